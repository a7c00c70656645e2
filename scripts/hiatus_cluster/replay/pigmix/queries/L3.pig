-- Revenue of known users: a join by hashing, then a grouping by the same key.
views = load '$page_views' using PigStorage('\u0001') as (user, action, timespent, query_term, ip_addr, timestamp,
                                                          estimated_revenue, page_info, page_links);
slim = foreach views generate user, (double) estimated_revenue as revenue;
people = load '$users' using PigStorage('\u0001') as (name, phone, address, city, state, zip);
names = foreach people generate name;
joined = join names by name, slim by user parallel $parallel;
by_name = group joined by names::name parallel $parallel;
sums = foreach by_name generate group, SUM(joined.slim::revenue);
store sums into '$out' using PigStorage('\u0001');
