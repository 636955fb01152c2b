select sum(cityHash64(number)) as hash from system.numbers
