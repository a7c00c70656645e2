-- Views in the morning and in the afternoon, by user.
views = load '$page_views' using PigStorage('\u0001') as (user, action, timespent, query_term, ip_addr, timestamp,
                                                          estimated_revenue, page_info, page_links);
slim = foreach views generate user, (long) timestamp as timestamp;
by_user = group slim by user parallel $parallel;
counts = foreach by_user {
    morning = filter slim by timestamp < 43200L;
    afternoon = filter slim by timestamp >= 43200L;
    generate group, COUNT(morning), COUNT(afternoon);
}
store counts into '$out' using PigStorage('\u0001');
