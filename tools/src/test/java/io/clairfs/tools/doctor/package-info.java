/**
 * Tests of the checks on recorded machines.
 */
package io.clairfs.tools.doctor;
