-- How many different actions each user took.
views = load '$page_views' using PigStorage('\u0001') as (user, action, timespent, query_term, ip_addr, timestamp,
                                                          estimated_revenue, page_info, page_links);
slim = foreach views generate user, action;
by_user = group slim by user parallel $parallel;
counts = foreach by_user {
    actions = distinct slim.action;
    generate group, COUNT(actions);
}
store counts into '$out' using PigStorage('\u0001');
