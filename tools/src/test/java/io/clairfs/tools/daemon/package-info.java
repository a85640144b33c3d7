/** What the daemon is made of, by itself. */
package io.clairfs.tools.daemon;
