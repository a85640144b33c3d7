package io.clairfs.tools.cli;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassElement;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/**
 * Makes jars of which a JVM keeps all classes in its cache of loaded classes. Classes for Java 5 and older have no stack maps (JVM
 * specification, 4.7.4), so a cache does not take them, and each start loads and verifies them anew, slowly: picocli's were a fifth of a
 * short command. Their stack maps are computed here, once, when the program is built.
 */
public final class CacheableJars {
    /** The first version whose classes are verified by stack maps. Older ones are verified by inference, and never cached. */
    private static final int WITH_STACK_MAPS = ClassFile.JAVA_6_VERSION;

    private static final int NEW_VERSION = ClassFile.JAVA_8_VERSION;

    /** Says in a changed jar what was changed. */
    private static final String NOTICE = "META-INF/CHANGED-BY-CLAIRFS";

    private static final String NOTICE_TEXT = """
            clairfs has rewritten the class files of this jar that were for Java 5 or older: they are for Java 8 now and have stack maps.
            Nothing else was changed.
            """;

    private CacheableJars() {}

    /** Takes a directory of jars, which are on this JVM's class path, and replaces those that have such classes. */
    public static void main(String[] arguments) throws IOException {
        List<Path> jars;
        try (Stream<Path> all = Files.list(Path.of(arguments[0]))) {
            jars = all.filter(each -> each.toString().endsWith(".jar")).sorted().toList();
        }
        for (Path jar : jars) {
            if (isToBeRewritten(jar)) {
                Path fresh = jar.resolveSibling(jar.getFileName() + ".part");
                rewrite(jar, fresh);
                Files.move(fresh, jar, StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    /** Whether a jar has classes that no cache takes. */
    public static boolean isToBeRewritten(Path jar) throws IOException {
        try (ZipInputStream in = open(jar)) {
            for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
                if (isClass(entry) && isOld(in.readNBytes(8))) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Writes a jar anew, its old classes with stack maps. The classes that they use are looked up on this JVM's class path. */
    public static void rewrite(Path jar, Path into) throws IOException {
        ClassFile classes = ClassFile.of(
                ClassFile.StackMapsOption.GENERATE_STACK_MAPS,
                ClassFile.ConstantPoolSharingOption.NEW_POOL,
                ClassFile.ClassHierarchyResolverOption.of(
                        ClassHierarchyResolver.ofResourceParsing(CacheableJars.class.getClassLoader())
                                .orElse(ClassHierarchyResolver.defaultResolver())
                                .cached()));
        try (ZipInputStream in = open(jar);
                ZipOutputStream out = new ZipOutputStream(new BufferedOutputStream(Files.newOutputStream(into)))) {
            for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
                byte[] content = in.readAllBytes();
                put(out, entry, isClass(entry) && isOld(content) ? rewritten(classes, content) : content);
            }
            put(out, new ZipEntry(NOTICE), NOTICE_TEXT.getBytes(StandardCharsets.UTF_8));
        }
    }

    private static void put(ZipOutputStream out, ZipEntry like, byte[] content) throws IOException {
        ZipEntry entry = new ZipEntry(like.getName());
        if (like.getTime() >= 0) {
            entry.setTime(like.getTime());
        }
        out.putNextEntry(entry);
        out.write(content);
        out.closeEntry();
    }

    private static ZipInputStream open(Path jar) throws IOException {
        return new ZipInputStream(new BufferedInputStream(Files.newInputStream(jar)));
    }

    private static boolean isClass(ZipEntry entry) {
        return entry.getName().endsWith(".class");
    }

    /** The version stands behind the magic number and the minor version, most significant byte first. */
    private static boolean isOld(byte[] content) {
        return content.length >= 8 && (((content[6] & 0xff) << 8) | (content[7] & 0xff)) < WITH_STACK_MAPS;
    }

    /** A class whose stack maps cannot be computed, because it uses classes that are not there, stays as it is. */
    private static byte[] rewritten(ClassFile classes, byte[] content) {
        try {
            ClassModel old = classes.parse(content);
            return classes.transformClass(old, new ForNewVersion());
        } catch (IllegalArgumentException e) {
            return content;
        }
    }

    private static final class ForNewVersion implements ClassTransform {
        @Override
        public void accept(ClassBuilder into, ClassElement element) {
            switch (element) {
                case ClassFileVersion _ -> into.withVersion(NEW_VERSION, 0);
                case MethodModel method ->
                    into.transformMethod(method, MethodTransform.transformingCode(CodeTransform.ACCEPT_ALL));
                default -> into.with(element);
            }
        }
    }
}
