/** Accepted and refused configuration files. */
package io.clairfs.tools.config;
