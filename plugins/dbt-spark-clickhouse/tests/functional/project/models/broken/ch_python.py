def model(dbt, session):
    return dbt.ref("spark_orders")
