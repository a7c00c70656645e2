-- What users looked at: for each, the rows of page_links times one look-up in a map that the action chooses.
views = load '$page_views' using PigStorage('\u0001') as (user, action, timespent, query_term, ip_addr, timestamp,
                                                          estimated_revenue, page_info:chararray, page_links:chararray);
links = foreach views generate user, (int) action as action, page_info, flatten(TOKENIZE(page_links, '\u0002')) as link:chararray;
headers = foreach links generate user, (action == 1 ? REGEX_EXTRACT(page_info, '(?:^|\u0003)a\u0004([^\u0003]*)', 1)
                                                    : REGEX_EXTRACT(link, '(?:^m|\u0003)b\u0004([^\u0003]*)', 1)) as header;
by_user = group headers by user parallel $parallel;
counts = foreach by_user generate group, COUNT(headers);
store counts into '$out' using PigStorage('\u0001');
