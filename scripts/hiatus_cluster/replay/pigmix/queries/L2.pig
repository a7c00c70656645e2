-- Views of power users: an inner join whose small side every map holds.
views = load '$page_views' using PigStorage('\u0001') as (user, action, timespent, query_term, ip_addr, timestamp,
                                                          estimated_revenue, page_info, page_links);
slim = foreach views generate user, (double) estimated_revenue as revenue;
people = load '$power_users' using PigStorage('\u0001') as (name, phone, address, city, state, zip);
names = foreach people generate name;
joined = join slim by user, names by name using 'replicated';
store joined into '$out' using PigStorage('\u0001');
