-- Three different things of each user, each once.
views = load '$page_views' using PigStorage('\u0001') as (user, action, timespent, query_term, ip_addr, timestamp,
                                                          estimated_revenue, page_info, page_links);
slim = foreach views generate user, action, timespent, estimated_revenue;
by_user = group slim by user parallel $parallel;
sums = foreach by_user {
    actions = distinct slim.action;
    revenues = distinct slim.estimated_revenue;
    times = distinct slim.timespent;
    generate group, COUNT(actions), SUM(revenues), (int) AVG(times);
}
store sums into '$out' using PigStorage('\u0001');
