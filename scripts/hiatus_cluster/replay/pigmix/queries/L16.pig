-- Revenue of each user, summed up in its order.
views = load '$page_views' using PigStorage('\u0001') as (user, action, timespent, query_term, ip_addr, timestamp,
                                                          estimated_revenue, page_info, page_links);
slim = foreach views generate user, (double) estimated_revenue as revenue;
by_user = group slim by user parallel $parallel;
sums = foreach by_user {
    rising = order slim by revenue;
    revenues = foreach rising generate revenue;
    generate group, SUM(revenues);
}
store sums into '$out' using PigStorage('\u0001');
