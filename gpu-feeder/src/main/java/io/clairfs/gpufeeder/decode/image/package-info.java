/**
 * Images to uint8 samples: JPEG by libjpeg-turbo where the system has it, else by the JDK; PNG by the JDK; then crop, resize and flip.
 *
 * <p>Pixels are those of Pillow: {@code Image.open(f).convert('RGB')}, then its bilinear filter. Native types stay inside.
 */
@NullMarked
package io.clairfs.gpufeeder.decode.image;

import org.jspecify.annotations.NullMarked;
