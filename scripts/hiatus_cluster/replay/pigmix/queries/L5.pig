-- Users that nobody knows: an anti-join.
views = load '$page_views' using PigStorage('\u0001') as (user, action, timespent, query_term, ip_addr, timestamp,
                                                          estimated_revenue, page_info, page_links);
slim = foreach views generate user;
people = load '$users' using PigStorage('\u0001') as (name, phone, address, city, state, zip);
names = foreach people generate name;
both = cogroup names by name, slim by user parallel $parallel;
unknown = filter both by COUNT(names) == 0;
only = foreach unknown generate group;
store only into '$out' using PigStorage('\u0001');
