/** What a user writes after {@code --decode}: parsed here, and turned into a decoding. */
@NullMarked
package io.clairfs.gpufeeder.decode.spec;

import org.jspecify.annotations.NullMarked;
