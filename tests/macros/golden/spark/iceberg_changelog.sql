call lake.system.create_changelog_view(
    table => 'shop.orders',
    changelog_view => 'shop__orders_changes__feed_log',
    options => map(
      'start-snapshot-id', '3', 'end-snapshot-id', '9'
    )
  )
