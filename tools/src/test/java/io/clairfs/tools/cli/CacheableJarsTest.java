package io.clairfs.tools.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CacheableJarsTest {
    private static final ClassDesc CHOICE = ClassDesc.of("old.Choice");

    @TempDir
    private Path directory;

    /** A class that makes one of two things, so that its verifier needs to know what both are. */
    private static byte[] choice(int version, ClassDesc one, ClassDesc other, ClassDesc both) {
        return ClassFile.of()
                .build(
                        CHOICE,
                        made -> made.withVersion(version, 0)
                                .withMethodBody(
                                        "of",
                                        MethodTypeDesc.of(both, ConstantDescs.CD_boolean),
                                        ClassFile.ACC_PUBLIC | ClassFile.ACC_STATIC,
                                        code -> {
                                            Label otherwise = code.newLabel();
                                            Label end = code.newLabel();
                                            code.iload(0).ifeq(otherwise);
                                            code.new_(one)
                                                    .dup()
                                                    .invokespecial(one, "<init>", ConstantDescs.MTD_void)
                                                    .goto_(end);
                                            code.labelBinding(otherwise);
                                            code.new_(other)
                                                    .dup()
                                                    .invokespecial(other, "<init>", ConstantDescs.MTD_void);
                                            code.labelBinding(end).areturn();
                                        }));
    }

    private static ClassDesc type(Class<?> of) {
        return of.describeConstable().orElseThrow();
    }

    private Path jar(byte[] content) throws IOException {
        Path jar = directory.resolve("old.jar");
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new ZipEntry("old/Choice.class"));
            out.write(content);
            out.putNextEntry(new ZipEntry("old/words.txt"));
            out.write("as they are".getBytes(StandardCharsets.UTF_8));
        }
        return jar;
    }

    private static byte[] content(Path jar, String name) throws IOException {
        try (ZipFile file = new ZipFile(jar.toFile())) {
            return file.getInputStream(file.getEntry(name)).readAllBytes();
        }
    }

    @Test
    void oldClass_hasStackMapsAndDoesTheSame_andTheRestOfTheJarIsAsItWas() throws Exception {
        Path jar = jar(choice(
                ClassFile.JAVA_5_VERSION, type(ArrayList.class), type(ArrayDeque.class), type(Collection.class)));
        assertThat(CacheableJars.isToBeRewritten(jar)).isTrue();

        CacheableJars.main(new String[] {directory.toString()});

        assertThat(CacheableJars.isToBeRewritten(jar)).isFalse();
        assertThat(ClassFile.of().parse(content(jar, "old/Choice.class")).majorVersion())
                .isEqualTo(ClassFile.JAVA_8_VERSION);
        assertThat(content(jar, "old/words.txt"))
                .asString(StandardCharsets.UTF_8)
                .isEqualTo("as they are");
        assertThat(content(jar, "META-INF/CHANGED-BY-CLAIRFS"))
                .asString(StandardCharsets.UTF_8)
                .contains("rewritten");
        try (URLClassLoader loader = new URLClassLoader(new URL[] {jar.toUri().toURL()}, null)) {
            Class<?> loaded = loader.loadClass("old.Choice"); // verified when a method is called
            assertThat(loaded.getMethod("of", boolean.class).invoke(null, true)).isEqualTo(List.of());
            assertThat(loaded.getMethod("of", boolean.class).invoke(null, false))
                    .isInstanceOf(ArrayDeque.class);
        }
        try (var files = Files.list(directory)) {
            assertThat(files).containsExactly(jar);
        }
    }

    @Test
    void classOfUnknownTypes_andJarsWithoutOldClasses_stayAsTheyAre() throws Exception {
        byte[] unknown = choice(
                ClassFile.JAVA_5_VERSION,
                ClassDesc.of("not.There"),
                ClassDesc.of("not.ThereEither"),
                ClassDesc.of("not.Both"));
        Path jar = jar(unknown);
        CacheableJars.main(new String[] {directory.toString()});
        assertThat(content(jar, "old/Choice.class")).isEqualTo(unknown);

        byte[] today =
                choice(ClassFile.JAVA_25_VERSION, type(ArrayList.class), type(ArrayDeque.class), type(Object.class));
        byte[] before = Files.readAllBytes(jar(today));
        CacheableJars.main(new String[] {directory.toString()});
        assertThat(jar).hasBinaryContent(before);
    }
}
