-- Names in either of two tables, each once.
views = load '$page_views' using PigStorage('\u0001') as (user, action, timespent, query_term, ip_addr, timestamp,
                                                          estimated_revenue, page_info, page_links);
users = foreach views generate user;
some = distinct users parallel $parallel;
rows = load '$widerow' using PigStorage('\u0001') as (name);
names = foreach rows generate $0;
others = distinct names parallel $parallel;
together = union some, others;
once = distinct together parallel $parallel;
store once into '$out' using PigStorage('\u0001');
