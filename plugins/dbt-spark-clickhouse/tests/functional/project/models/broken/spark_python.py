def model(dbt, session):
    dbt.config(database="spark")
    return dbt.ref("spark_orders")
