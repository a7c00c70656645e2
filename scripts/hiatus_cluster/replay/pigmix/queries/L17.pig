-- A grouping by 21 of 27 fields: nearly as many groups as rows.
views = load '$widegroupbydata' using PigStorage('\u0001') as (
    user, action, timespent, query_term, ip_addr, timestamp, estimated_revenue, page_info, page_links,
    user_1, action_1, timespent_1, query_term_1, ip_addr_1, timestamp_1, estimated_revenue_1, page_info_1, page_links_1,
    user_2, action_2, timespent_2, query_term_2, ip_addr_2, timestamp_2, estimated_revenue_2, page_info_2, page_links_2);
wide = group views by (user, action, query_term, ip_addr, timestamp, page_info, page_links,
                       user_1, action_1, query_term_1, ip_addr_1, timestamp_1, page_info_1, page_links_1,
                       user_2, action_2, query_term_2, ip_addr_2, timestamp_2, page_info_2, page_links_2) parallel $parallel;
sums = foreach wide generate SUM(views.timespent), SUM(views.timespent_1), SUM(views.timespent_2),
                             AVG(views.estimated_revenue), AVG(views.estimated_revenue_1), AVG(views.estimated_revenue_2);
store sums into '$out' using PigStorage('\u0001');
