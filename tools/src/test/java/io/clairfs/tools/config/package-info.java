/** What configuration files take and refuse. */
package io.clairfs.tools.config;
