package io.clairfs.cache.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.AnnotationConsumer;
import org.junit.jupiter.params.support.ParameterDeclarations;

/** The seeds of a random test: one in four at every {@code ./verify}, all with {@code --all} ({@link FurtherCases}). */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ArgumentsSource(RandomSeeds.Provider.class)
public @interface RandomSeeds {
    /** All of them. */
    long[] value();

    /** Gives the seeds that are tried. */
    final class Provider implements ArgumentsProvider, AnnotationConsumer<RandomSeeds> {
        private long[] seeds = {};

        @Override
        public void accept(RandomSeeds annotation) {
            seeds = annotation.value();
        }

        @Override
        public Stream<? extends Arguments> provideArguments(
                ParameterDeclarations parameters, ExtensionContext context) {
            return FurtherCases.of(Arrays.stream(seeds).boxed().toList()).stream()
                    .map(Arguments::of);
        }
    }
}
