"""The folder of a projected release: written, verified, each check made to fail, and what it must not reveal."""

from __future__ import annotations

import csv
import json
import pickle
import re
import stat
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.releases.digests import digest
from sfumato.releases.model_base import as_json
from standin import Chunks
from test_project import SCHEMA, SENSITIVE, K, people

PLAN = [["sex", "title"], ["job", "pay"]]
REQUIRED = [K, sf.TCloseness("0.6")]


def made(data=None, **options):
    data = people(visits=range(len(people()))) if data is None else data
    return sf.project(data, SCHEMA, REQUIRED, **{"plan": PLAN, "method": Chunks(6), **options})


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return made().save(tmp_path_factory.mktemp("projected") / "release")


@pytest.fixture
def folder(written, tmp_path):
    """A copy that may be tampered with."""
    target = tmp_path / "release"
    target.mkdir()
    for file in written.iterdir():
        (target / file.name).write_bytes(file.read_bytes())
    return target


def stated(folder):
    return json.loads((folder / "release.json").read_text(encoding="utf-8"))


def claim(folder, change):
    content = stated(folder)
    change(content)
    (folder / "release.json").write_text(as_json(content), encoding="utf-8")


def rows_of(folder, number=1):
    with (folder / f"table_{number}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def put(folder, rows, number=1):
    """Write changed rows, with the SHA-256 corrected, so that other checks must find the change."""
    path = folder / f"table_{number}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    claim(folder, lambda content: content["files"].update({path.name: digest(path).to_dict()}))


def failing(found):
    assert not found
    return [check.name for check in found.checks if check.holds is False]


class TestVerification:
    def test_an_unchanged_folder(self, folder):
        found = sf.verify(folder, people(), schema=SCHEMA, principles=REQUIRED)
        assert found, found
        assert {check.name for check in found.checks} >= {
            "file",
            "plan",
            "table_1: terms",
            "table_2: cover",
            "table_2: dependence",
            "association loss",
            "information exposure",
            "declared",
        }
        assert [check.name for check in found.not_checked] == ["table_1: loss", "table_2: loss"]

    def test_without_the_original(self, folder):
        found = sf.verify(folder)
        assert found
        assert [check.holds for check in found.checks][-2:] == [None, None]

    def test_expectations_are_compared(self, folder):
        assert failing(sf.verify(folder, principles=[sf.KAnonymity(7), sf.TCloseness("0.6")]))
        other = sf.Schema(["age"], [*SENSITIVE, "town"], identifiers=["name"])
        assert "declared" in failing(sf.verify(folder, schema=other))

    def test_parquet(self, tmp_path):
        target = made().save(tmp_path / "out", format="parquet")
        assert sorted(file.name for file in target.glob("table*")) == ["table_1.parquet", "table_2.parquet"]
        assert sf.verify(target, people())

    def test_bits(self, tmp_path):
        rows = {"age": range(12), "dx": [["a"], ["a", "b"], None, []] * 3, "job": ["x", "y", "z"] * 4}
        for form in ("csv", "parquet"):
            projection = sf.project(pa.table(rows), sf.Schema(["age"], ["dx", "job"]), sf.KAnonymity(4), method=Chunks(4))
            target = projection.save(tmp_path / form, format=form)
            assert sf.verify(target, pa.table(rows))
            assert stated(target)["sets"] == {"dx": ["dx=a", "dx=b"]}
            fewer = pa.table({**rows, "dx": [["a"], ["a"], None, []] * 3})
            assert failing(sf.verify(target, fewer)) == ["sets"]

    def test_a_custom_distance(self, tmp_path):
        schema = sf.Schema(
            ["age", "town"], SENSITIVE, identifiers=["name"], distance=sf.distances.Custom(lambda a, b: float(a != b))
        )
        required = sf.Dissimilarity(epsilon="0.5", delta="0.1", k=6)
        target = sf.project(people(), schema, required, plan=PLAN, method=Chunks(6)).save(tmp_path / "out")
        assert sf.verify(target, people(), schema=schema)
        assert all(name.startswith("table_") for name in failing(sf.verify(target, people()))), "the function is not here"


class TestTampering:
    def test_a_byte(self, folder):
        with (folder / "table_2.csv").open("ab") as file:
            file.write(b"\n")
        assert "file" in failing(sf.verify(folder))

    def test_a_cell(self, folder):
        rows = rows_of(folder)
        rows[0]["sex"], rows[0]["title"] = {"f": ("m", "mr"), "m": ("f", "ms")}[rows[0]["sex"]]
        put(folder, rows)
        assert "table_1: rows" in failing(sf.verify(folder, people()))

    def test_values_swapped_between_rows(self, folder):
        """The multiset of each column is the same; the shared information is not."""
        rows = rows_of(folder)
        one = rows[0]
        other = next(row for row in rows if row["sex"] != one["sex"] and row["group"] == one["group"])
        one["sex"], other["sex"] = other["sex"], one["sex"]
        put(folder, rows)
        assert failing(sf.verify(folder)) == ["table_1: warnings"]
        names = stated(folder)["plan"][0]
        counts = Counter(tuple(row[name] for name in names) for row in rows)
        unique = {"unique_rows": sum(count == 1 for count in counts.values())}
        claim(folder, lambda content: content["tables"][0]["coverage"].update(unique))
        assert failing(sf.verify(folder)) == ["table_1: order", "table_1: dependence"]

    def test_a_quasi_identifier(self, folder):
        rows = rows_of(folder, 2)
        group = rows[0]["group"]
        for row in rows:
            row["age"] = "[90, 99]" if row["group"] == group else row["age"]
        put(folder, rows, 2)
        assert failing(sf.verify(folder, people())) == ["table_2: cover"]

    def test_a_row_removed(self, folder):
        put(folder, rows_of(folder)[1:])
        assert "table_1: counts" in failing(sf.verify(folder))
        claim(folder, lambda content: content["tables"][0].update(rows=47))
        assert "table_1: terms" in failing(sf.verify(folder)), "the tables must be about the same people"

    def test_a_column_that_links(self, folder):
        for number in (1, 2):
            put(folder, [{**row, "visits": place} for place, row in enumerate(rows_of(folder, number))], number)

        def listed(content):
            for table in content["tables"]:
                table["columns"].append({"name": "visits", "role": "other"})

        claim(folder, listed)
        assert {"table_1: terms", "table_2: terms"} <= set(failing(sf.verify(folder)))

    def test_an_attribute_in_two_tables(self, folder):
        claim(folder, lambda content: content["plan"][1].append("sex"))
        assert failing(sf.verify(folder)) == ["plan"]

    def test_an_attribute_in_another_table(self, folder):
        claim(folder, lambda content: content.update(plan=[["sex"], ["title", "job", "pay"]]))
        assert {"table_1: terms", "table_2: terms"} <= set(failing(sf.verify(folder)))

    def test_a_table_stated_with_another_attribute(self, folder):
        claim(folder, lambda content: content["tables"][0].update(attributes=["sex"]))
        assert failing(sf.verify(folder)) == ["table_1: terms"]

    def test_an_attribute_left_out(self, folder):
        claim(folder, lambda content: content.update(plan=[["sex", "title"], ["job"]]))
        assert failing(sf.verify(folder)) == ["plan"]

    def test_a_principle_dropped_in_one_table(self, folder):
        def dropped(content):
            table = content["tables"][1]
            table["config"]["principles"].pop()
            table["principles"] = table["principles"][:1]

        claim(folder, dropped)
        assert "table_2: terms" in failing(sf.verify(folder))

    def test_a_better_level_is_stated(self, folder):
        claim(folder, lambda content: content["tables"][1]["principles"][1]["exact"].update(t="0.1"))
        assert any(name.startswith("table_2: t-closeness") for name in failing(sf.verify(folder)))

    def test_a_hierarchy_or_kind_of_one_table(self, folder):
        claim(folder, lambda content: content["tables"][0]["config"]["columns"]["town"].update(kind="text"))
        assert "table_1: terms" in failing(sf.verify(folder))

    @pytest.mark.parametrize("place", [0, 1])
    @pytest.mark.parametrize(
        "change",
        [{"measured": 0.99}, {"wanted": "x"}, {"holds": False}, {"wanted": "2"}],
    )
    def test_a_threshold(self, folder, place, change):
        claim(folder, lambda content: content["thresholds"][place].update(change))
        name = ["association loss", "information exposure"][place]
        assert failing(sf.verify(folder, people())) == [name]

    def test_a_lower_ratio_is_stated(self, folder):
        claim(folder, lambda content: content["thresholds"][1].update(measured=0.0))
        assert failing(sf.verify(folder)) == ["report"], "without the original only the report tells"
        assert failing(sf.verify(folder, people())) == ["information exposure"]

    def test_values_stated_as_harmless(self, folder):
        claim(folder, lambda content: content.update(harmless={"pay": ["low", "mid", "high"]}))
        assert "table_2: dependence" in failing(sf.verify(folder))

    @pytest.mark.parametrize("key", ["plan", "sets", "harmless", "thresholds", "attributes"])
    @pytest.mark.parametrize("corrupt", [[[]], [3], {"pay": 3}, {"pay": []}, [{"key": []}]])
    def test_corrupt_keys(self, folder, key, corrupt):
        """Any value of a key is either valid or reported."""
        claim(folder, lambda content: content.update({key: corrupt}))
        try:
            assert not sf.verify(folder)
        except sf.errors.ReleaseError as error:
            assert key in str(error)

    def test_another_original(self, folder):
        data = people()
        other = data.set_column(data.column_names.index("pay"), "pay", pa.array(data["pay"].to_pylist()[::-1]))
        assert "table_2: rows" in failing(sf.verify(folder, other))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda content: content.pop("plan"), "plan"),
            (lambda content: content["files"].pop("table_2.csv"), "table_1.csv to table_2.csv"),
            (lambda content: content["files"].update({"../x.csv": content["files"]["table_1.csv"]}), "files"),
            (lambda content: content["tables"].pop(), "files"),
            (lambda content: content["tables"][1].pop("principles"), "tables[1].principles"),
            (lambda content: content["tables"].__setitem__(0, "corrupt"), "tables[0]"),
            (lambda content: content.update(kind="heap"), "heap"),
        ],
    )
    def test_invalid_releases(self, folder, change, message):
        claim(folder, change)
        with pytest.raises(sf.errors.ReleaseError, match=re.escape(message)):
            sf.verify(folder)

    def test_a_missing_file(self, folder):
        (folder / "table_2.csv").unlink()
        with pytest.raises(sf.errors.ReleaseError, match="missing"):
            sf.verify(folder)


class TestWriting:
    def test_only_a_release_is_replaced(self, folder):
        projection = made(seed=9)
        with pytest.raises(sf.errors.FileError, match="something exists here already"):
            projection.save(folder)
        projection.save(folder, force=True)
        assert stated(folder) == json.loads(projection.document.to_json()) | {"files": stated(folder)["files"]}
        (folder / "table_x.csv").write_text("mine", encoding="utf-8")
        with pytest.raises(sf.errors.FileError, match=r"table_x\.csv"):
            projection.save(folder, force=True)

    def test_a_release_of_one_table_and_back(self, tmp_path):
        target = made().save(tmp_path / "out")
        one = sf.anonymize(people(), SCHEMA, K, method=Chunks(6))
        one.save(target, force=True)
        assert sorted(file.name for file in target.iterdir()) == ["data.csv", "release.json", "report.html"]
        made().save(target, force=True)
        assert sf.verify(target)

    def test_the_internal_report_is_for_its_owner(self, tmp_path):
        page = tmp_path / "internal.html"
        made().save(tmp_path / "out", internal=page)
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
        with pytest.raises(sf.errors.FileError, match="inside the release"):
            made().save(tmp_path / "other", internal=tmp_path / "other" / "internal.html")
        assert not (tmp_path / "other").exists()

    def test_nothing_is_left_behind(self, tmp_path):
        with pytest.raises(sf.errors.ParameterError, match="format"):
            made().save(tmp_path / "out", format="xlsx")
        assert not list(tmp_path.iterdir())

    def test_the_same_bytes(self, tmp_path):
        one, other = (made().save(tmp_path / name) for name in "ab")
        for file in one.iterdir():
            assert file.read_bytes() == (other / file.name).read_bytes(), file.name

    def test_it_cannot_be_replayed_as_one_table(self, folder):
        with pytest.raises(sf.errors.ReleaseError, match="several tables, each with groups of its own"):
            sf.replay(folder, people())

    def test_the_report_is_drawn_again(self, folder):
        assert sf.report(folder) == (folder / "report.html").read_text(encoding="utf-8")


class TestLeaks:
    """Nothing in the folder depends on who has which sensitive value."""

    @staticmethod
    def shuffled(names):
        """The same people with these sensitive values permuted within every group; Chunks(6) groups by age."""
        data = people()
        draw, order = np.random.default_rng(7), np.argsort(np.array(data["age"]))
        new = np.arange(len(order))
        for start in range(0, len(order), 6):
            new[order[start : start + 6]] = draw.permutation(order[start : start + 6])
        assert (new != np.arange(len(order))).any()
        for name in names:
            data = data.set_column(data.column_names.index(name), name, data[name].take(pa.array(new)))
        return data

    @pytest.mark.parametrize("plan", [PLAN, None])
    def test_permuted_values(self, tmp_path, plan):
        """All sensitive values of a person move together, so no table and no dependence changes."""
        folders = [
            made(data, plan=plan).save(tmp_path / name) for name, data in (("a", people()), ("b", self.shuffled(SENSITIVE)))
        ]
        for file in folders[0].iterdir():
            assert file.read_bytes() == (folders[1] / file.name).read_bytes(), file.name

    def test_only_the_ratios_depend_on_separated_attributes(self, tmp_path):
        """The values of one table are permuted: no table changes, but the combinations of job and sex do."""
        one, other = (
            made(data).save(tmp_path / name) for name, data in (("a", people()), ("b", self.shuffled(["job", "pay"])))
        )
        assert [(one / f"table_{n}.csv").read_bytes() == (other / f"table_{n}.csv").read_bytes() for n in (1, 2)] == [
            True,
            True,
        ]
        before, after = stated(one), stated(other)
        for content in (before, after):
            del content["files"]["report.html"]
            for threshold in content["thresholds"]:
                del threshold["measured"]
        assert before == after

    def test_ratios_are_published_in_hundredths(self, written):
        content, exact = stated(written), made().ratios
        ratios = [threshold["measured"] for threshold in content["thresholds"]]
        assert ratios == [round(exact.association_loss, 2), round(exact.information_exposure, 2)]
        text = (written / "release.json").read_text(encoding="utf-8")
        assert str(exact.association_loss) not in text

    def test_linking_columns_are_left_out(self, written):
        for file in written.glob("table*"):
            assert "visits" not in file.read_text(encoding="utf-8")
        assert stated(written)["left_out"] == ["visits"]


class TestPickle:
    """A pickle contains what may be published, and nothing else."""

    def test_private_parts(self):
        projection = made()
        assert repr(projection.private) == "PrivateProjection(not for publication)"
        with pytest.raises(sf.errors.ReleaseError, match="cannot be pickled"):
            pickle.dumps(projection.private)
        again = pickle.loads(pickle.dumps(projection))
        assert repr(again) == repr(projection)
        assert repr(again).startswith("Projection of 48 rows on 2 tables")
        for name in ("source", "table", "dependence", "tradeoff", "search", "reading", "ratios", "warnings"):
            with pytest.raises(sf.errors.ReleaseError, match="not available"):
                getattr(again, name)
        with pytest.raises(sf.errors.ReleaseError, match="not available"):
            again.attacks()
