package io.hiatus.scheduler.web;

import io.hiatus.scheduler.engine.OperatorService;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.servlet.DispatcherType;
import javax.servlet.Filter;
import javax.servlet.FilterChain;
import javax.servlet.FilterConfig;
import javax.servlet.ServletException;
import javax.servlet.ServletRequest;
import javax.servlet.ServletResponse;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.commons.io.IOUtils;
import org.apache.hadoop.ha.HAServiceProtocol.HAServiceState;
import org.apache.hadoop.http.HtmlQuoting;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManager;
import org.apache.hadoop.yarn.webapp.WebApp;
import org.eclipse.jetty.servlet.FilterHolder;
import org.eclipse.jetty.servlet.FilterMapping;
import org.eclipse.jetty.servlet.ServletHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The page {@code /hiatus} of the ResourceManager, and a line on YARN's own page of the scheduler that leads there, or says that
 * stock has taken over. The files of the page hold no data: those it fetches from {@link HiatusWebService}, as the user that
 * Hadoop takes the browser for.
 */
public final class HiatusPages implements Filter {
  private static final Logger LOG = LoggerFactory.getLogger(HiatusPages.class);
  private static final String ROOT = "/hiatus";
  private static final String[] PATHS = {ROOT, ROOT + "/*", "/cluster/scheduler"};
  /** Name of the filter that serves them. */
  private static final String YARNS_PAGES = "guice";
  private static final Map<String, String> TYPES = new HashMap<>();

  static {
    TYPES.put("index.html", "text/html; charset=utf-8");
    TYPES.put("hiatus.css", "text/css; charset=utf-8");
    TYPES.put("hiatus.js", "text/javascript; charset=utf-8");
  }

  private final ResourceManager manager;

  private HiatusPages(ResourceManager manager) {
    this.manager = manager;
  }

  /**
   * Puts itself before YARN's own pages, and behind the filters that find out who asks: whom those do not let in sees nothing of this
   * either. In the configuration there is no place for that: YARN takes what stands there as filter initialisers for a choice of who is
   * to be authenticated, and how.
   * Where the web application is built otherwise there is no page, and all else works. Where YARN serves nobody else's web services
   * by its configuration, this adds {@link HiatusWebService}, too.
   */
  public static void addTo(WebApp app, ResourceManager manager) {
    try {
      ServletHandler handler = app.httpServer().getWebAppContext().getServletHandler();
      if (handler.getFilter(HiatusPages.class.getName()) != null) {
        return; // it was active before
      }
      FilterHolder holder = new FilterHolder(new HiatusPages(manager));
      holder.setName(HiatusPages.class.getName());
      handler.addFilter(holder);
      // The server runs already, and starts nothing by itself any more.
      holder.start();
      holder.initialize();
      FilterMapping mapping = new FilterMapping();
      mapping.setFilterName(holder.getName());
      mapping.setPathSpecs(PATHS);
      mapping.setDispatcherTypes(EnumSet.of(DispatcherType.REQUEST));
      List<FilterMapping> mappings = new ArrayList<>(Arrays.asList(handler.getFilterMappings()));
      mappings.add(mappings.stream().map(FilterMapping::getFilterName).collect(Collectors.toList()).indexOf(YARNS_PAGES), mapping);
      handler.setFilterMappings(mappings.toArray(new FilterMapping[0]));
      HiatusWebService.addTo(handler, manager);
    } catch (Exception | LinkageError e) {
      LOG.warn("The page {} of this ResourceManager's web interface does not work, or what it shows; all else does", ROOT, e);
    }
  }

  @Override
  public void doFilter(ServletRequest asked, ServletResponse answer, FilterChain chain) throws IOException, ServletException {
    HttpServletRequest request = (HttpServletRequest) asked;
    HttpServletResponse response = (HttpServletResponse) answer;
    String path = request.getRequestURI();
    if (manager.getRMContext().getHAServiceState() == HAServiceState.STANDBY) {
      chain.doFilter(asked, answer); // to the active one: from here the page would not be let fetch its data there
    } else if (path.equals(ROOT)) {
      String query = request.getQueryString();
      response.sendRedirect(ROOT + "/" + (query == null ? "" : "?" + query));
    } else if (path.startsWith(ROOT + "/")) {
      file(path.substring(ROOT.length() + 1), request, response);
    } else {
      chain.doFilter(asked, answer);
      if (response.getStatus() == HttpServletResponse.SC_OK && String.valueOf(response.getContentType()).startsWith("text/html")) {
        addNote(response);
      }
    }
  }

  private void addNote(HttpServletResponse response) throws IOException {
    try {
      response.getWriter().write(note());
    } catch (IllegalStateException e) {
      LOG.debug("YARN's page was written as bytes, and ends with them", e);
    }
  }

  private static void file(String name, HttpServletRequest request, HttpServletResponse response) throws IOException {
    String found = name.isEmpty() ? "index.html" : name;
    if (!TYPES.containsKey(found)) {
      response.sendError(HttpServletResponse.SC_NOT_FOUND);
    } else if (!request.getMethod().equals("GET") && !request.getMethod().equals("HEAD")) {
      response.sendError(HttpServletResponse.SC_METHOD_NOT_ALLOWED);
    } else {
      try (InputStream in = HiatusPages.class.getResourceAsStream("/hiatus-page/" + found)) {
        response.setContentType(TYPES.get(found));
        response.setHeader("Cache-Control", "no-cache");
        response.setHeader("Content-Security-Policy", "default-src 'self'; frame-ancestors 'self'");
        response.setHeader("X-Content-Type-Options", "nosniff");
        IOUtils.copy(in, response.getOutputStream());
      }
    }
  }

  /** Behind the end of YARN's page, where browsers still take it. */
  private String note() {
    OperatorService watched = manager.getResourceScheduler() instanceof OperatorService.Provider
        ? ((OperatorService.Provider) manager.getResourceScheduler()).operatorService() : null;
    String fault = watched == null ? null : watched.fault();
    String style = "position:fixed;right:0;bottom:0;padding:.5em 1em;font:14px sans-serif;border-radius:.5em 0 0 0;";
    return watched == null ? "" : fault == null
        ? "<aside id=\"hiatus\" style=\"" + style + "background:#e8f1fb;color:#10243c\"><a href=\"" + ROOT
            + "/\">Hiatus: who is served next, what is suspended, and why</a></aside>"
        : "<aside id=\"hiatus\" role=\"alert\" style=\"" + style + "left:0;background:#a80f0f;color:#fff\">"
            + "Hiatus is off: stock CapacityScheduler has taken over. " + HtmlQuoting.quoteHtmlChars(fault)
            + " <a style=\"color:#fff\" href=\"" + ROOT + "/\">More</a></aside>";
  }

  @Override
  public void init(FilterConfig config) {
  }

  @Override
  public void destroy() {
  }
}
