package io.clairfs.tools.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.view.KeptForm;
import io.clairfs.tools.node.config.ViewCache;
import org.junit.jupiter.api.Test;

/** What tiers hold in a view, before the dataset is listed. */
final class KeptFormChoiceTest {
    @Test
    void auto_isWhatTheProcessBeforeDecided() {
        assertThat(KeptFormChoice.atMount(ViewCache.AUTO, false, KeptForm.RAW)).isEqualTo(KeptForm.RAW);
        assertThat(KeptFormChoice.atMount(ViewCache.AUTO, false, KeptForm.MADE)).isEqualTo(KeptForm.MADE);
        assertThat(KeptFormChoice.atMount(ViewCache.AUTO, false, KeptForm.UNDECIDED))
                .as("a new mount")
                .isEqualTo(KeptForm.UNDECIDED);
    }

    @Test
    void whatTheUserSaid_andWhatAGroupAgreesOn_holdsAllTheSame() {
        assertThat(KeptFormChoice.atMount(ViewCache.RAW, false, KeptForm.MADE)).isEqualTo(KeptForm.RAW);
        assertThat(KeptFormChoice.atMount(ViewCache.MADE, false, KeptForm.RAW)).isEqualTo(KeptForm.MADE);
        assertThat(KeptFormChoice.atMount(ViewCache.AUTO, true, KeptForm.RAW)).isEqualTo(KeptForm.MADE);
    }
}
