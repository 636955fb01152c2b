select id, if(id = 1, array(1), null) as tags from values (1), (2) as ids (id)
