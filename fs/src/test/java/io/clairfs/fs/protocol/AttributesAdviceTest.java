package io.clairfs.fs.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class AttributesAdviceTest {
    private final AttributesAdvice advice = new AttributesAdvice();

    @Test
    void walkThatUsesNoEntry_getsNamesAlone() {
        for (long directory = 100; directory < 200; directory++) {
            assertThat(advice.bringsAttributes(directory, 0)).isFalse();
            assertThat(advice.bringsAttributes(directory, 50)).isFalse();
            advice.lookedUp(1); // of the directory itself, from its parent
        }
    }

    @Test
    void namesThatAreLookedUp_bringAttributesWithLaterPages_andWithTheDirectoriesThatFollow() {
        assertThat(advice.bringsAttributes(100, 0)).isFalse();
        for (int name = 0; name < 3; name++) {
            advice.lookedUp(100);
        }
        assertThat(advice.bringsAttributes(100, 50)).isTrue();
        for (long directory = 101; directory < 165; directory++) {
            assertThat(advice.bringsAttributes(directory, 0)).isTrue();
        }
        assertThat(advice.bringsAttributes(165, 0))
                .as("whether they are still used is seen without them")
                .isFalse();
        assertThat(advice.bringsAttributes(165, 50)).isFalse();
    }

    @Test
    void fewNamesThatAreLookedUp_orThoseOfAnotherDirectory_areNoUse() {
        assertThat(advice.bringsAttributes(100, 0)).isFalse();
        advice.lookedUp(100);
        advice.lookedUp(100);
        advice.lookedUp(99);
        assertThat(advice.bringsAttributes(100, 50)).isFalse();
        assertThat(advice.bringsAttributes(101, 0)).isFalse();
    }
}
