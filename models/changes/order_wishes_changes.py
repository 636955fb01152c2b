"""What customers ask for, read from the notes of orders: free text in several languages.

A Python model, since SQL can neither take accents off nor look for words in Japanese.
"""

import re
import unicodedata

from pyspark.sql import functions as f
from pyspark.sql.window import Window

WISHES = {
    "gift": ("gift", "birthday"),
    "time": ("after", "before", "午前"),
    "place": ("leave", "floor", "door", "cote", "entree"),
    "call": ("ring", "call"),
    "care": ("fragile", "care"),
    "invoice": ("invoice",),
    "substitutions": ("substitution",),
}
REFERENCE = re.compile(r"\(ref (\d{1,18})\)")


def model(dbt, session):
    events = dbt.ref("stg_shop__orders").where("_reason is null and _version is not null")
    # An update of the key deletes the row that was there by the old one.
    keys = "if(_key_before is null, array(order_id), array(order_id, _key_before.order_id))"
    changes = events.select(
        f.posexplode(f.expr(keys)).alias("_place", "order_id"),
        *("note", "_version", "_is_truncate"),
        f.expr("_place > 0 or _is_deleted").alias("_is_deleted"),
    )
    latest = Window.partitionBy("order_id").orderBy(f.desc("_version"), f.desc("_is_deleted"))
    newest = changes.withColumn("_rank", f.row_number().over(latest)).where("_rank = 1")
    read = f.udf(read_note, "struct<wish: string, reference: bigint>")
    return newest.withColumn("_read", read("note")).select(
        "order_id", "_read.wish", "_read.reference", "_version", "_is_deleted", "_is_truncate"
    )


def read_note(note):
    """The kind of wish that comes first in a note, and the number of an earlier order."""
    plain = unicodedata.normalize("NFKD", note or "").casefold()
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    places = {
        wish: min(found)
        for wish, words in WISHES.items()
        if (found := [plain.index(word) for word in words if word in plain])
    }
    reference = REFERENCE.search(plain)
    wish = min(places, key=places.get) if places else "other" if note else "none"
    return wish, int(reference[1]) if reference else None
