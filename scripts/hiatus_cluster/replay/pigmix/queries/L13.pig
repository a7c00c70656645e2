-- Views with the phone number of some power users: a left outer join.
views = load '$page_views' using PigStorage('\u0001') as (user, action, timespent, query_term, ip_addr, timestamp,
                                                          estimated_revenue, page_info, page_links);
slim = foreach views generate user, (double) estimated_revenue as revenue;
people = load '$power_users_samples' using PigStorage('\u0001') as (name, phone, address, city, state, zip);
phones = foreach people generate name, phone;
joined = join slim by user left outer, phones by name parallel $parallel;
store joined into '$out' using PigStorage('\u0001');
