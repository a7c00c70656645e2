-- Views of known users: a join of two sorted tables by merging.
views = load '$page_views_sorted' using PigStorage('\u0001') as (user, action, timespent, query_term, ip_addr, timestamp,
                                                                 estimated_revenue, page_info, page_links);
slim = foreach views generate user, (double) estimated_revenue as revenue;
people = load '$users_sorted' using PigStorage('\u0001') as (name, phone, address, city, state, zip);
names = foreach people generate name;
joined = join slim by user, names by name using 'merge';
store joined into '$out' using PigStorage('\u0001');
