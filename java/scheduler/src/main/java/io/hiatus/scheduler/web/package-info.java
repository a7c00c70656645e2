/**
 * The ResourceManager's web interface of Hiatus: REST and page.
 *
 * <p>May use: engine, explain, hadoop.
 */
package io.hiatus.scheduler.web;
