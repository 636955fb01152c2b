-- Rows that no merge has collapsed: orders 1, 4 and 7 were changed, 2 and 5 deleted, the region XX is empty again,
-- and the only item of order 4 was deleted.
system stop merges;

insert into {database}.orders values
  (1, 1, 'new', 'EU', 10.5, 100, 1, 1.25, '2025-01-01 00:00:00', 1, 1),
  (2, 2, 'paid', 'EU', 100, 200, null, null, '2025-01-02 00:00:00', 9, 1),
  (3, 3, 'paid', 'US', 7.25, 18446744073709551615, 18446744073709551615, 2.5, '2025-01-03 00:00:00', 1, 1),
  (4, 1, 'sent', 'US', 20.4, 5, 7, null, '2025-01-04 00:00:00', 3, 1),
  (5, 3, 'lost', 'XX', 999, 9, 9, 9, '2025-01-05 00:00:00', 20, 1),
  (6, 4, 'paid', 'EU', 15, 6, null, null, '2025-01-06 00:00:00', 1, 1),
  (7, 5, 'sent', 'AP', -300.5, 7, 3, 2, '2025-01-07 00:00:00', 2, 1),
  (8, 1, 'sent', 'AP', 40, 8, 2, 2, '2025-01-08 00:00:00', 2, 1);

insert into {database}.orders values
  (1, 1, 'new', 'EU', 10.5, 100, 1, 1.25, '2025-01-01 00:00:00', 1, -1),
  (1, 1, 'paid', 'EU', 12.5, 110, 1, 1.25, '2025-02-01 00:00:00', 2, 1),
  (2, 2, 'paid', 'EU', 100, 200, null, null, '2025-01-02 00:00:00', 9, -1),
  (4, 1, 'sent', 'US', 20.4, 5, 7, null, '2025-01-04 00:00:00', 3, -1),
  (4, 1, 'sent', 'AP', 20.4, 5, 7, null, '2025-02-04 00:00:00', 4, 1),
  (5, 3, 'lost', 'XX', 999, 9, 9, 9, '2025-01-05 00:00:00', 20, -1),
  (7, 5, 'sent', 'AP', -300.5, 7, 3, 2, '2025-01-07 00:00:00', 2, -1),
  (7, 5, 'paid', 'AP', -3.5, 7, 3, 2, '2025-02-07 00:00:00', 3, 1);

insert into {database}.items values
  (1, 1, 5, 2, 1, 1), (1, 2, 2.5, 1, 1, 1), (2, 1, 100, 1, 1, 1), (3, 1, 7.25, 1, 1, 1), (6, 1, 15, 1, 1, 1),
  (4, 1, 9, 1, 1, 1);

insert into {database}.items values
  (1, 2, 2.5, 1, 1, -1), (1, 2, 3.5, 1, 2, 1), (2, 1, 100, 1, 1, -1), (4, 1, 9, 1, 1, -1);

insert into {database}.visits values (1, 1, 60, 1), (2, 1, 30, 1), (3, 3, 10, 1), (4, 2, 5, 1);

insert into {database}.visits values (1, 1, 60, -1), (1, 1, 90, 1), (4, 2, 5, -1);

insert into {database}.customers values
  (1, 'Ann', 'EU', 50, 1), (2, 'Ben', 'EU', 500, 1), (3, 'Cas', 'US', 20, 1), (4, 'Dee', 'EU', 30, 1),
  (5, 'Eve', 'AP', 10, 1);

insert into {database}.revenue_live values ('EU', 10, 1), ('US', 7, 1), ('XX', 999, 1);

insert into {database}.revenue_live values ('EU', 10, 1), ('XX', -999, -1);

insert into {database}.prices values
  (1, 'EU', 10, '2025-01-01 00:00:00'), (2, 'EU', 20, '2025-01-01 00:00:00'), (3, 'US', 5, '2025-01-01 00:00:00');

insert into {database}.prices values (1, 'US', 12.5, '2025-02-01 00:00:00'), (3, 'US', 6, '2025-02-01 00:00:00');

insert into {database}.stock values ('a', 1, 10, 1, 0), ('a', 2, 4, 1, 0), ('b', 1, 7, 1, 0), ('b', 3, 2, 1, 0);

insert into {database}.stock values ('a', 1, 8, 2, 0), ('b', 3, 2, 2, 1), ('b', 1, 9, 2, 0);
