-- Everything in one group.
views = load '$page_views' using PigStorage('\u0001') as (user, action, timespent, query_term, ip_addr, timestamp,
                                                          estimated_revenue, page_info, page_links);
slim = foreach views generate (int) timespent as timespent, (double) estimated_revenue as revenue;
everything = group slim all;
totals = foreach everything generate SUM(slim.timespent), AVG(slim.revenue);
store totals into '$out' using PigStorage('\u0001');
