package io.clairfs.tools.demo;

import java.awt.image.BufferedImage;
import java.awt.image.DataBufferByte;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.SplittableRandom;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.MemoryCacheImageOutputStream;

/** Pictures of coloured waves with grain. JPEG compresses them about as well as photographs of this size, to 95 to 125 KB each. */
final class JpegImage {
    private static final int WIDTH = 400;
    private static final int LEAST_HEIGHT = 300;
    private static final int MOST_HEIGHT = 360;
    private static final int GRAIN = 100;
    private static final float QUALITY = 0.93f;
    private static final int EXPECTED_BYTES = 160 * 1024;

    private JpegImage() {}

    /** The picture of this seed as a JPEG file. */
    static byte[] encode(long seed) throws IOException {
        return encode(draw(new SplittableRandom(seed)));
    }

    private static BufferedImage draw(SplittableRandom random) {
        int height = random.nextInt(LEAST_HEIGHT, MOST_HEIGHT + 1);
        BufferedImage image = new BufferedImage(WIDTH, height, BufferedImage.TYPE_3BYTE_BGR);
        byte[] pixels = ((DataBufferByte) image.getRaster().getDataBuffer()).getData();
        byte[] grain = new byte[WIDTH * height];
        random.nextBytes(grain);
        int[] colour = {random.nextInt(60, 190), random.nextInt(60, 190), random.nextInt(60, 190)};
        double[] across = wave(random, WIDTH, 40);
        double[] down = wave(random, height, 1);
        int at = 0;
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < WIDTH; x++) {
                int light = (int) (across[x] * down[y]) + grain[y * WIDTH + x] * GRAIN / Byte.MAX_VALUE;
                for (int channel : colour) {
                    pixels[at++] = (byte) Math.clamp(channel + light, 0, 255);
                }
            }
        }
        return image;
    }

    private static double[] wave(SplittableRandom random, int length, double height) {
        double frequency = random.nextDouble(0.005, 0.05);
        double[] wave = new double[length];
        for (int i = 0; i < length; i++) {
            wave[i] = height * StrictMath.sin(i * frequency);
        }
        return wave;
    }

    private static byte[] encode(BufferedImage image) throws IOException {
        ImageWriter writer = ImageIO.getImageWritersByFormatName("jpeg").next();
        ByteArrayOutputStream file = new ByteArrayOutputStream(EXPECTED_BYTES);
        try (MemoryCacheImageOutputStream out = new MemoryCacheImageOutputStream(file)) {
            writer.setOutput(out);
            ImageWriteParam quality = writer.getDefaultWriteParam();
            quality.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
            quality.setCompressionQuality(QUALITY);
            writer.write(null, new IIOImage(image, null, null), quality);
        } finally {
            writer.dispose();
        }
        return file.toByteArray();
    }
}
