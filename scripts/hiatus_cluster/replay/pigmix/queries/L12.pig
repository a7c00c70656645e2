-- Three outputs of one pass: the best view of each user, the time of nobody by term, actions without a term.
views = load '$page_views' using PigStorage('\u0001') as (user, action, timespent, query_term, ip_addr, timestamp,
                                                          estimated_revenue, page_info, page_links);
slim = foreach views generate user, action, (int) timespent as timespent, query_term, (double) estimated_revenue as revenue;
split slim into known if user is not null, unknown if user is null;
split known into searched if query_term is not null, browsed if query_term is null;
by_user = group searched by user parallel $parallel;
best = foreach by_user generate group, MAX(searched.revenue);
store best into '$out/best' using PigStorage('\u0001');
by_term = group unknown by query_term parallel $parallel;
times = foreach by_term generate group, SUM(unknown.timespent);
store times into '$out/times' using PigStorage('\u0001');
by_action = group browsed by action parallel $parallel;
actions = foreach by_action generate group, COUNT(browsed);
store actions into '$out/actions' using PigStorage('\u0001');
