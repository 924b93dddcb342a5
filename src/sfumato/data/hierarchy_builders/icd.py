"""Diagnosis codes of the International Classification of Diseases: code, category, chapter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.data.hierarchy import Hierarchy, HierarchyBuilder
from sfumato.data.hierarchy_builders.built_tree import built_tree
from sfumato.errors import HierarchyError, ParameterError

_CODE = {
    9: re.compile(r"(?P<category>E\d{3}|V\d{2}|\d{3})\.?\d{0,2}|(?P<short>\d{1,2})(\.\d{0,2})?", re.ASCII),
    10: re.compile(r"(?P<category>[A-Z]\d[0-9AB])(\.?[0-9A-Z]{0,4})[†*+!#]?", re.ASCII),
}
"""How the codes of each version are written: with or without a dot; of ICD-9 also without leading zeros."""

_CHAPTERS: dict[int, tuple[tuple[str, str, str], ...]] = {
    9: (
        ("001", "139", "Infectious and parasitic diseases"),
        ("140", "239", "Neoplasms"),
        ("240", "279", "Endocrine, nutritional and metabolic diseases, and immunity disorders"),
        ("280", "289", "Diseases of the blood and blood-forming organs"),
        ("290", "319", "Mental disorders"),
        ("320", "389", "Diseases of the nervous system and sense organs"),
        ("390", "459", "Diseases of the circulatory system"),
        ("460", "519", "Diseases of the respiratory system"),
        ("520", "579", "Diseases of the digestive system"),
        ("580", "629", "Diseases of the genitourinary system"),
        ("630", "679", "Complications of pregnancy, childbirth, and the puerperium"),
        ("680", "709", "Diseases of the skin and subcutaneous tissue"),
        ("710", "739", "Diseases of the musculoskeletal system and connective tissue"),
        ("740", "759", "Congenital anomalies"),
        ("760", "779", "Certain conditions originating in the perinatal period"),
        ("780", "799", "Symptoms, signs, and ill-defined conditions"),
        ("800", "999", "Injury and poisoning"),
        ("E000", "E999", "External causes of injury and poisoning"),
        ("V01", "V91", "Factors influencing health status and contact with health services"),
    ),
    10: (
        ("A00", "B99", "Certain infectious and parasitic diseases"),
        ("C00", "D49", "Neoplasms"),
        ("D50", "D89", "Diseases of the blood and blood-forming organs and the immune mechanism"),
        ("E00", "E90", "Endocrine, nutritional and metabolic diseases"),
        ("F00", "F99", "Mental and behavioural disorders"),
        ("G00", "G99", "Diseases of the nervous system"),
        ("H00", "H59", "Diseases of the eye and adnexa"),
        ("H60", "H95", "Diseases of the ear and mastoid process"),
        ("I00", "I99", "Diseases of the circulatory system"),
        ("J00", "J99", "Diseases of the respiratory system"),
        ("K00", "K95", "Diseases of the digestive system"),
        ("L00", "L99", "Diseases of the skin and subcutaneous tissue"),
        ("M00", "M99", "Diseases of the musculoskeletal system and connective tissue"),
        ("N00", "N99", "Diseases of the genitourinary system"),
        ("O00", "O9A", "Pregnancy, childbirth and the puerperium"),
        ("P00", "P96", "Certain conditions originating in the perinatal period"),
        ("Q00", "Q99", "Congenital malformations, deformations and chromosomal abnormalities"),
        ("R00", "R99", "Symptoms, signs and abnormal clinical and laboratory findings"),
        ("S00", "T98", "Injury, poisoning and certain other consequences of external causes"),
        ("V00", "Y99", "External causes of morbidity and mortality"),
        ("Z00", "Z99", "Factors influencing health status and contact with health services"),
        ("U00", "U99", "Codes for special purposes"),
    ),
}
"""For each version the first and the last category of its chapters. Those of ICD-10 include the codes of ICD-10-CM."""


@dataclass(frozen=True)
class ICD(HierarchyBuilder):
    """Builds the hierarchy of diagnosis codes: code, category of three characters, chapter.

    `version`: 9 (ICD-9-CM, with its E and V codes) or 10 (ICD-10 and ICD-10-CM). Codes may be written with or without the
    dot, in ICD-9 also without leading zeros: `8.0` is `008.0`. A code that is not of the version, or in no chapter, is an
    error. Chapters as in the International Classification of Diseases, WHO; National Center for Health Statistics.

    >>> ICD(9).build(["250.83", "V57", "E909", "8"], "diagnosis").labels[1]
    ('250*', 'V57*', 'E909*', '008*')
    >>> ICD(10).build(["E11.9"], "diagnosis").generalize("E11.9", 2)
    'E00-E90 Endocrine, nutritional and metabolic diseases'
    """

    version: int

    key: ClassVar[str] = "icd"

    def __post_init__(self) -> None:
        if isinstance(self.version, bool) or self.version not in _CHAPTERS:
            raise ParameterError(
                f"there is no version {self.version!r} of the ICD here",
                remedy="Write 9 or 10.",
                key="icd",
                value=self.version,
            )

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return 3

    def build(self, values: Sequence[str], column: str) -> Hierarchy:
        """Return a hierarchy whose leaves are these values."""
        return built_tree(values, [self._path(value, column) for value in values], column)

    def _path(self, value: str, column: str) -> list[str]:
        code = _CODE[self.version].fullmatch(value.strip().upper())
        category = None if code is None else code["category"] or code["short"].zfill(3)
        chapter = None if category is None else self._chapter(category)
        if category is None or chapter is None:
            raise HierarchyError(
                f"{value!r} is not a code of ICD-{self.version}",
                remedy="Correct it, list it under missing.values if it means missing, or declare another hierarchy, such as "
                "{ prefix = [3, 1] }.",
                column=column,
                value=value,
            )
        return [f"{category}*", chapter]

    def _chapter(self, category: str) -> str | None:
        for first, last, title in _CHAPTERS[self.version]:
            # categories of one kind have one length: 250, E909, V57
            if len(category) == len(first) and first[0].isalpha() == category[0].isalpha() and first <= category <= last:
                return f"{first}-{last} {title}"
        return None

    def is_node(self, label: str, level: int) -> bool:
        """Return whether a label is a category (level 1) or a chapter (level 2).

        >>> ICD(9).is_node("250*", 1), ICD(9).is_node("290-319 Mental disorders", 2), ICD(9).is_node("250.8*", 1)
        (True, True, False)
        """
        if level == 2:
            return any(label == f"{first}-{last} {title}" for first, last, title in _CHAPTERS[self.version])
        code = _CODE[self.version].fullmatch(label[:-1])
        return label.endswith("*") and code is not None and code["category"] == label[:-1]
