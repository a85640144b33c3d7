package io.clairfs.tools;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The module graph, and the library packages that each module may touch. All modules share one class path, so only this test enforces it.
 */
class ArchitectureTest {
    private static final String ROOT = "io.clairfs.";

    /** The modules that each module may use. It names every module. */
    private static final Map<String, List<String>> MODULES = Map.of(
            "cache", List.of(),
            "fs", List.of("cache"),
            "peer", List.of("cache"),
            "gpufeeder", List.of("cache"),
            "tools", List.of("cache", "fs", "peer", "gpufeeder"));

    /** For each root package of a library, the one module that may touch it. */
    private static final Map<String, String> LIBRARIES = Map.ofEntries(
            Map.entry("jnr", "fs"),
            Map.entry("com.kenai.jffi", "fs"),
            Map.entry("ru.serce", "fs"),
            Map.entry("com.github.benmanes", "cache"),
            Map.entry("it.unimi.dsi", "cache"),
            Map.entry("org.HdrHistogram", "cache"),
            Map.entry("io.netty", "peer"),
            Map.entry("com.hazelcast", "peer"),
            Map.entry("org.roaringbitmap", "peer"),
            Map.entry("jcuda", "gpufeeder"),
            Map.entry("picocli", "tools"),
            Map.entry("me.tongfei", "tools"),
            Map.entry("io.prometheus", "tools"),
            Map.entry("org.slf4j", "tools"),
            Map.entry("ch.qos.logback", "tools"),
            Map.entry("tools.jackson", "tools"),
            Map.entry("com.fasterxml.jackson", "tools"));

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("-tests.jar")) // the test classes of fs, once packaged
            .importPackages("io.clairfs");

    @Test
    void every_module_is_known_and_was_imported() {
        Set<String> found = CLASSES.stream()
                .map(c -> c.getPackageName().substring(ROOT.length()).split("\\.", 2)[0])
                .collect(Collectors.toSet());
        assertThat(found).isEqualTo(MODULES.keySet());
        assertThat(CLASSES.size()).as("classes imported").isGreaterThan(100);
    }

    @ParameterizedTest
    @ValueSource(strings = {"cache", "fs", "peer", "gpufeeder", "tools"})
    void module_uses_only_the_modules_below_it(String module) {
        String[] others = MODULES.keySet().stream()
                .filter(other -> !other.equals(module)
                        && !MODULES.getOrDefault(module, List.of()).contains(other))
                .map(other -> ROOT + other + "..")
                .toArray(String[]::new);
        if (others.length == 0) {
            assertThat(module).isEqualTo("tools");
            return;
        }
        noClasses()
                .that()
                .resideInAPackage(ROOT + module + "..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(others)
                .check(CLASSES);
    }

    @Test
    void each_library_is_touched_by_one_module() {
        for (Map.Entry<String, String> library : LIBRARIES.entrySet()) {
            noClasses()
                    .that()
                    .resideOutsideOfPackage(ROOT + library.getValue() + "..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage(library.getKey() + "..")
                    .check(CLASSES);
        }
    }

    @Test
    void no_library_is_used_that_this_test_does_not_know() {
        String[] known = LIBRARIES.keySet().stream().map(l -> l + "..").toArray(String[]::new);
        classes()
                .should()
                .onlyDependOnClassesThat(DescribedPredicate.<JavaClass>describe(
                                "are ours, the JDK's or annotations",
                                c -> c.getPackageName().startsWith("io.clairfs")
                                        || c.getPackageName()
                                                .matches(
                                                        "|(java|javax|org\\.jspecify|com\\.sun\\.management|com\\.sun\\.net\\.httpserver)(\\..*)?"))
                        .or(JavaClass.Predicates.resideInAnyPackage(known)))
                .check(CLASSES);
    }

    @Test
    void no_package_is_named_after_nothing() {
        assertThat(CLASSES.stream()
                        .map(JavaClass::getPackageName)
                        .flatMap(name -> java.util.Arrays.stream(name.split("\\.")))
                        .distinct())
                .doesNotContain("util", "utils", "common", "impl", "manager", "helper", "helpers", "misc");
    }

    @Test
    void no_two_classes_have_the_same_simple_name() {
        Map<String, List<String>> byName = CLASSES.stream()
                .filter(c -> c.isTopLevelClass() && !c.getSimpleName().equals("package-info"))
                .collect(Collectors.groupingBy(
                        JavaClass::getSimpleName, Collectors.mapping(JavaClass::getName, Collectors.toList())));
        assertThat(byName.values()).allSatisfy(same -> assertThat(same).hasSize(1));
    }

    @Test
    void the_product_does_not_know_the_instruments() {
        noClasses()
                .that()
                .resideInAnyPackage("io.clairfs.tools.node..", "io.clairfs.tools.config..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "io.clairfs.tools.bench..",
                        "io.clairfs.tools.calibrate..",
                        "io.clairfs.tools.cli..",
                        "io.clairfs.tools.demo..",
                        "io.clairfs.tools.simulate..")
                .check(CLASSES);
    }

    @ParameterizedTest
    @ValueSource(strings = {"cache", "fs", "peer", "gpufeeder", "tools"})
    void packages_of_a_module_form_no_cycle(String module) {
        slices().matching(ROOT + module + ".(**)")
                .should()
                .beFreeOfCycles()
                .allowEmptyShould(true)
                .check(CLASSES);
    }
}
