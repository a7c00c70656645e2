-- A total order by three fields, one of them falling.
views = load '$page_views' using PigStorage('\u0001') as (user, action, timespent:int, query_term, ip_addr, timestamp,
                                                          estimated_revenue:double, page_info, page_links);
sorted = order views by query_term, estimated_revenue desc, timespent parallel $parallel;
store sorted into '$out' using PigStorage('\u0001');
