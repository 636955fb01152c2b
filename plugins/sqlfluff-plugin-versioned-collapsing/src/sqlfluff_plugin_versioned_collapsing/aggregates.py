"""Names of aggregate functions, and what a sign can do for each."""

from __future__ import annotations

import re
from typing import NamedTuple


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Sums of values: correct if each value is multiplied by the sign.
SUMS = frozenset({"sum", "sumkahan", "sumwithoverflow"})
# Sums of maps or arrays, and sums with decay: correct if the sign is inside.
SUMS_OF_MANY = _words(
    """exponentialtimedecayedsum summapfiltered summapfilteredwithoverflow summappedarrays
    summapwithoverflow"""
)
# Both rows of a pair give the same, so that repeating it changes nothing; or the result does not depend on the rows.
_HARMLESS = _words(
    """aggthrow bit_xor distinctdynamictypes distinctjsonpaths distinctjsonpathsandtypes
    estimatecompressionratio groupbitxor nothing nothingnull nothinguint64"""
)
# ClickHouse's aggregate and window functions (system.functions, version 26.9).
_UNDERIVABLE = _words(
    """
    analysisofvariance anova any anyheavy anylast anylast_respect_nulls anylastrespectnulls
    any_respect_nulls any_value any_value_respect_nulls anyrespectnulls anyvaluerespectnulls
    approx_top_count approx_top_k approx_top_sum argandmax argandmin argmax argmin array_agg
    array_concat_agg bit_and bit_or boundingratio categoricalinformationvalue contingency corr
    corrmatrix corrstable covar_pop covar_samp covarpop covarpopmatrix covarpopstable covarsamp
    covarsampmatrix covarsampstable cramersv cramersvbiascorrected cume_dist deltasum
    deltasumtimestamp dense_rank denserank entropy exponentialmovingaverage
    exponentialtimedecayedavg exponentialtimedecayedcount exponentialtimedecayedmax first_value
    first_value_respect_nulls firstvaluerespectnulls flamegraph gini group_concat grouparray
    grouparrayinsertat grouparrayintersect grouparraylast grouparraymovingavg
    grouparraymovingsum grouparraysample grouparraysorted groupbitand groupbitmap groupbitmapand
    groupbitmapor groupbitmapxor groupbitor groupconcat groupformat groupnumericindexedvector
    groupuniqarray hierarchicalkmeans histogram intervallengthsum kolmogorovsmirnovtest kurtpop
    kurtsamp lag laginframe largesttrianglethreebuckets last_value last_value_respect_nulls
    lastvaluerespectnulls lead leadinframe lttb mannwhitneyutest max max_by maxintersections
    maxintersectionsposition maxmappedarrays meanztest mergedjsonpatch min min_by
    minmappedarrays mvtencode nonnegativederivative nth_value ntile percent_rank percentrank
    rank rankcorr regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx
    regr_sxy regr_syy retention row_number sequencecount sequencematch sequencematchevents
    sequencenextnode simplelinearregression singlevalueornull skewpop skewsamp sparkbar st_asmvt
    std stddev stddev_pop stddev_samp stddevpop stddevpopstable stddevsamp stddevsampstable
    stochasticlinearregression stochasticlogisticregression string_agg studentttest
    studentttestonesample sumcount theilsu topk topkweighted uniq uniqcombined uniqcombined64
    uniqexact uniqhll12 uniqthetasketch uniqupto var_pop var_samp varpop varpopstable varsamp
    varsampstable welchttest windowfunnel
    """
)
_FAMILIES = re.compile(r"(quantiles?|median|timeseries)\w*", re.IGNORECASE)
_COMBINATOR = re.compile(
    r"(If|Array|Map|SimpleState|MergeState|State|Merge|Distinct|OrNull|OrDefault|ForEach|Resample|ArgMin|ArgMax)$",
    re.IGNORECASE,
)
_KNOWN = SUMS | SUMS_OF_MANY | _HARMLESS | _UNDERIVABLE | {"count", "avg", "avgweighted"}


class Aggregate(NamedTuple):
    """An aggregate function: its base name and its combinators, in lower case."""

    base: str
    combinators: frozenset[str]

    @property
    def is_harmless(self) -> bool:
        return self.base in _HARMLESS

    @property
    def is_derivable(self) -> bool:
        """Whether a sign can make it correct."""
        if self.combinators & {"distinct", "argmin", "argmax"}:
            return False
        return self.base in _KNOWN and self.base not in _UNDERIVABLE

    @property
    def is_conditional(self) -> bool:
        return "if" in self.combinators


def aggregate_of(name: str) -> Aggregate | None:
    """The aggregate function of this name; None for any other function."""
    combinators: set[str] = set()
    base = name
    while base.lower() not in _KNOWN:
        found = _COMBINATOR.search(base)
        if found is None or found.start() == 0:
            is_known = _FAMILIES.fullmatch(base) is not None
            return Aggregate(base.lower(), frozenset(combinators)) if is_known else None
        combinators.add(found[1].lower())
        base = base[: found.start()]
    return Aggregate(base.lower(), frozenset(combinators))
