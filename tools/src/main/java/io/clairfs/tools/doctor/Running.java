package io.clairfs.tools.doctor;

import tools.jackson.databind.JsonNode;

/**
 * A mount that is there.
 *
 * @param pid its process; 0 if that is not known
 * @param status its {@code status.json}; a missing node if it does not answer
 */
public record Running(long pid, JsonNode status) {}
