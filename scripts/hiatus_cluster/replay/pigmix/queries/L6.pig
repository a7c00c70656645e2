-- Time spent by a key that is most of the row.
views = load '$page_views' using PigStorage('\u0001') as (user, action, timespent, query_term, ip_addr, timestamp,
                                                          estimated_revenue, page_info, page_links);
slim = foreach views generate user, (int) timespent as timespent, query_term, ip_addr, timestamp;
wide = group slim by (user, query_term, ip_addr, timestamp) parallel $parallel;
sums = foreach wide generate flatten(group), SUM(slim.timespent);
store sums into '$out' using PigStorage('\u0001');
