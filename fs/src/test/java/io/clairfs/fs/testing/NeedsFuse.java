package io.clairfs.fs.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** A test that mounts: tagged {@code fuse}, and skipped with a reason where there is no FUSE. */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Tag("fuse")
@ExtendWith(FuseCondition.class)
public @interface NeedsFuse {}
