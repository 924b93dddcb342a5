"""What release.json says of several tables, and what the internal report is drawn from.

release.json of the kind "projected", beside the versions that every release.json holds:

    format, kind ("projected"), seed       the seed of the projection; each table has its own, derived from it
    rows                                   rows of the table that was projected, those that were suppressed included
    holds                                  true: both thresholds are met, and every principle holds in every table
    attributes                             the sensitive attributes in order, sets spread into bits ("name=item")
    sets                                   {name: [its bits]} of each set that was spread; empty if none was
    plan                                   [[attribute, …], …], one list for each table, in the order of the tables
    chosen                                 "given" | "greedy" | "exhaustive": how the plan came about
    thresholds                             [{"name": "association loss" | "information exposure", "symbol": "Γ_α" | "Γ_β",
                                           "key": "alpha" | "beta", "measured": in hundredths, "wanted": the threshold as it
                                           was written, "origin": "given" | "knee" | "open", "holds": true}, …]: α first
    harmless                               {attribute: [its values that are not sensitive]}, where some are
    left_out                               columns that are in no table, because they would link the tables row by row
    config                                 the schema of the original and the principles, as for a release of groups
    reading                                how the original's file is read
    tables                                 one for each table, see below
    notes                                  [text, …]
    files                                  {"table_1.csv": {sha256, bytes}, …, "report.html": …}

Each of `tables` holds what the release.json of a release of groups holds, but for format, versions and files (`seed`, `method`,
`rows`, `groups`, `suppressed`, `suppress`, `holds`, `group`, `columns`, `config`, `reading`, `principles`, `utility`, `figures`,
`notes`; see `describe.described`), and

    file                                   "table_1.csv"
    attributes                             its sensitive attributes
    dependence                             {"names": […], "entropy": [bits, …], "information": [[bits, …], …], "exposure":
                                           [[bits, …], …]}: what a reader can compute from this table alone, and so all of
                                           the heat map that may be published; 0 on the diagonals

What the association between attributes of different tables is, is what the tables keep apart: only the two ratios, in hundredths,
and the plan depend on it.

The internal report is drawn from that and from `internal_content(projection)`:

    dependence                             the same keys over all attributes, on the original table, and "rows"
    thresholds                             [{"key", "measured": exact as a float}, …]
    tradeoff                               {"points": [weighed, …], "knee": weighed, "why": text}
    search                                 None if the plan was given, else {"exhaustive": bool, "steps": [text, …], "examined":
                                           [weighed, …], "refused": [[attribute, …], …]}
    attacks                                `Attacks.to_dict()`
    warnings                               [text, …]: dependent attributes that stand in different tables
    tables                                 one for each table: what `internal_figures` tells of it

where weighed is {"plan": [[attribute, …], …], "label": text, "association_loss": float, "information_exposure": float}.
"""
