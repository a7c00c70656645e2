-- A total order by one field.
views = load '$page_views' using PigStorage('\u0001') as (user, action, timespent, query_term, ip_addr, timestamp,
                                                          estimated_revenue, page_info, page_links);
sorted = order views by query_term parallel $parallel;
store sorted into '$out' using PigStorage('\u0001');
