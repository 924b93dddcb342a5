"""Patterns of columns, as data: the words of their names, and the shapes of their cells.

A pattern names what a column probably contains, and the role that such a column usually has. The words are those of English,
German, French and romanised Chinese headers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sfumato.data.schema import Role
from sfumato.profiling.name_words import words_of


@dataclass(frozen=True)
class Pattern:
    """What a column probably contains.

    An entry of `words` matches a column whose name contains this word. `word*` matches every word that begins with it,
    `two words` a name that contains both, and `=word` only the whole name.
    """

    name: str
    role: Role
    words: str = ""
    """Entries for names of columns, separated by commas."""
    cells: str = ""
    """A regular expression for a whole cell, in lower case."""
    rank: int = 9
    """The rank of a sensitive attribute; the most harmful comes first."""
    widely_known: bool = True
    """Whether many outsiders know a quasi-identifier, as they know sex and age."""
    alternatives: tuple[Role, ...] = ()
    """Roles that a person might choose instead."""


SHAPES = (
    Pattern("mail address", Role.IDENTIFIER, cells=r"[^@\s]+@[^@\s]+\.[^@\s.]{2,}"),
    Pattern("web address", Role.IDENTIFIER, cells=r"(https?|ftp)://\S+|www\.\S+"),
    Pattern("network address", Role.IDENTIFIER, cells=r"\d{1,3}(\.\d{1,3}){3}|([0-9a-f]{0,4}:){4,7}[0-9a-f]{0,4}"),
    Pattern("universal key", Role.IDENTIFIER, cells=r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|[0-9a-f]{40}"),
    Pattern(
        "national or bank number",
        Role.IDENTIFIER,
        cells=r"\d{3}-\d{2}-\d{4}"  # social security, United States
        r"|[a-z]{2} ?\d{2} ?\d{2} ?\d{2} ?[a-d]"  # national insurance, United Kingdom
        r"|756\.\d{4}\.\d{4}\.\d{2}"  # AHV, Switzerland
        r"|[12] ?\d{2} ?(0[1-9]|1[0-2]) ?\d[\dab] ?\d{3} ?\d{3}( ?\d{2})?"  # NIR, France
        r"|\d{6}(19|20)\d{2}(0[1-9]|1[0-2])\d{5}[\dx]"  # resident identity card, China
        r"|[a-z]{2}\d{2}( ?[a-z0-9]{4}){3,7}( ?[a-z0-9]{1,3})?"  # IBAN
        r"|\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{4}",  # payment card
    ),
    Pattern(
        "date",
        Role.QUASI_IDENTIFIER,
        cells=r"((18|19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])"
        r"|(18|19|20)\d{2}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]((18|19|20)\d{2}|\d{2}))"
        r"([ t]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?z| ?[+-]\d{2}:?\d{2}| ?[ap]m)?)?",
    ),
    Pattern(
        "phone number",
        Role.IDENTIFIER,
        cells=r"(?=(?:\D*\d){7,15}\D*$)(\+|00?)[\d ()/.-]+|\(?\d{2,5}\)?([ /.-]\d{2,5}){2,4}",
    ),
    Pattern(
        "street address",
        Role.IDENTIFIER,
        cells=r"(\d+\w?,? )?(.+ )?\b(street|str|road|rd|avenue|ave|lane|drive|circuit|crescent|close|court|terrace|boulevard"
        r"|square|highway|parade|grove)\b\.?( .*)?|.+(straße|strasse|str\.|weg|gasse|platz|allee) ?\d+ ?\w?"
        r"|(\d+ ?(bis|ter)?,? )?(rue|boulevard|impasse|chemin|allée|place|quai|avenue) .+|.+[路街巷弄].*\d+号?.*",
    ),
)
"""Patterns of cells, whatever the name of the column; the first that most cells match applies.

National numbers and dates come before phone numbers, whose expression also matches many of them."""

_SECRET = (Role.SENSITIVE,)
"""The alternative role of facts that outsiders can know, but that some people keep private."""

NAMES = (
    Pattern(
        "person's name",
        Role.IDENTIFIER,
        "=name, =names, first name, last name, given name, family name, full name, middle name, maiden name, user name, "
        "patient name, customer name, client name, person name, employee name, student name, surname*, firstname, lastname, "
        "fullname, forename*, givenname, fname, lname, mname, username, nickname, vorname*, nachname*, familienname*, "
        "geburtsname, =nom, =noms, prenom*, nom famille, patronyme, xingming, =xing, =ming",
    ),
    Pattern("mail address", Role.IDENTIFIER, "mail, email*, emails, courriel, youxiang"),
    Pattern(
        "phone number",
        Role.IDENTIFIER,
        "phone*, telephone*, tel, mobile, fax, telefon*, handy*, portable, shouji*, dianhua*",
    ),
    Pattern(
        "street address",
        Role.IDENTIFIER,
        "address*, addr, street*, strasse*, str, hausnummer*, hausnr, adresse*, rue, anschrift*, dizhi*, zhuzhi*, voie",
    ),
    Pattern("network address", Role.IDENTIFIER, "ip, ipaddress, mac address, imei, cookie"),
    Pattern("photograph", Role.IDENTIFIER, "photo*, picture, image, signature, fingerprint*, foto*, passbild"),
    Pattern(
        "key or number of a person",
        Role.IDENTIFIER,
        "id, ids, key, uid, pid, uuid, guid, ssn, nin, nino, nhs, mrn, passport*, social sec*, soc sec*, iban, account*, "
        "konto*, ausweis*, versicherungsnummer*, kennzeichen, kennung, nir, insee, matricule, "
        "licence, license, plate, record, "
        "identifier*, shenfen*, hukou*, bianhao, login, number, nummer, numero, nr, no, card",
    ),
    Pattern(
        "survey weight",
        Role.OTHER,
        "fnlwgt, wgt, wt, pwgt*, perwt, hhwt, pweight, instance weight*, sample weight*, sampling weight*, survey weight*, "
        "person weight*, final weight*, design weight*, household weight*, weighting, "
        "gewichtung*, hochrechnung*, ponderation, "
        "poids sondage, quanzhong",
    ),
    Pattern(
        "income",
        Role.SENSITIVE,
        "income*, salary, salaries, wage*, earning*, pay, payment*, compensation, einkommen*, gehalt*, lohn*, verdienst*, "
        "revenu*, salaire*, shouru*, gongzi*, xinzi*",
        rank=0,
    ),
    Pattern(
        "health",
        Role.SENSITIVE,
        "diag*, disease*, outcome*, icd*, ill, illness*, symptom*, syndrome*, treatment*, drug*, medic*, prescription*, "
        "therap*, surgery, blood, hiv, aids, bmi, cholesterol, glucose, insulin, cancer, tumor*, tumour*, allerg*, disab*, "
        "mental, health*, condition*, depress*, pregnan*, krank*, erkrankung*, behandlung*, befund*, blutdruck, arznei*, "
        "maladie*, traitement*, sante, pathologie*, jibing*, zhenduan*, bingming, diabet*, dement*, alzheimer*, parkinson*, "
        "stroke, strokes, angina, infarct*, hypertens*, asthma*, epilep*, hepatit*, schizo*, smok*, cigar*, alcohol*, "
        "addict*",
        rank=0,
    ),
    Pattern(
        "money",
        Role.SENSITIVE,
        "capital*, gain*, loss, losses, dividend*, wealth, asset*, debt*, loan*, credit*, balance, tax*, benefit*, welfare, "
        "pension*, mortgage*, rent, expens*, spend*, amount, vermogen*, schulden, steuer*, rente*, sozialhilfe, miete, "
        "patrimoine, dette*, impot*, allocation*, loyer, cunkuan, shui",
        rank=1,
    ),
    Pattern(
        "belief, conviction or intimate life",
        Role.SENSITIVE,
        "religi*, faith, church, politic*, party, vote*, voting, union*, sexual*, orientation, crime*, criminal*, offen*, "
        "convict*, prison*, arrest*, konfession*, glaube, gewerkschaft*, straf*, croyance, "
        "syndicat*, condamnation*, zongjiao, "
        "zhengzhi*",
        rank=2,
    ),
    Pattern(
        "employment",
        Role.SENSITIVE,
        "occupation*, job*, profession*, employ*, unemploy*, industr*, work*, business, hours, weeks, labor*, labour*, "
        "beruf*, beschaftig*, arbeit*, branche*, metier*, emploi*, chomage, travail, zhiye*, gongzuo*, hangye",
        rank=3,
        alternatives=(Role.QUASI_IDENTIFIER,),
    ),
    Pattern(
        "test result",
        Role.SENSITIVE,
        "score*, grade*, gpa, iq, rating, result*, zeugnis*, ergebnis*, chengji",
        rank=4,
        alternatives=(Role.QUASI_IDENTIFIER,),
    ),
    Pattern(
        "residence before, or moves",
        Role.QUASI_IDENTIFIER,
        "migr*, mig, mover*, moved, prev reg*, prev stat*, prev res*, previous res*, same house, umzug*, demenag*",
        widely_known=False,
    ),
    Pattern("military service", Role.QUASI_IDENTIFIER, "veteran*, military, army, wehrdienst*, fuyi", widely_known=False),
    Pattern(
        "body", Role.QUASI_IDENTIFIER, "height, weight, eye*, hair*, grosse, taille, shengao, tizhong", widely_known=False
    ),
    Pattern(
        "birth date",
        Role.QUASI_IDENTIFIER,
        "dob, birthday*, birthdate*, date birth, year birth, month birth, birth year, "
        "birth month, birth day, birth yr, birth dt, yob, born, geburtsdatum*, geburtstag*, geburtsjahr*, gebdat*, "
        "naissance, chusheng*, shengri, "
        "=by, =bm, =bd",
    ),
    Pattern(
        "birthplace",
        Role.QUASI_IDENTIFIER,
        "birth, birthplace*, birthplc, birthcountry, birthstate, geburtsort*, geburtsland*, jiguan",
    ),
    Pattern("age", Role.QUASI_IDENTIFIER, "age, ages, agegroup, alter, altersgruppe*, lebensalter, nianling"),
    Pattern(
        "sex", Role.QUASI_IDENTIFIER, "sex, =sx, gender*, =female, =male, =woman, =man, geschlecht*, sexe, genre, xingbie"
    ),
    Pattern(
        "race or ethnicity",
        Role.QUASI_IDENTIFIER,
        "race, races, ethnic*, =eth, hispanic*, =black, =white, =asian, =hisp, ethnie, minzu, rasse",
        alternatives=_SECRET,
    ),
    Pattern(
        "marital status",
        Role.QUASI_IDENTIFIER,
        "marital*, married, marriage, familienstand*, zivilstand*, etat civil, matrimonial*, hunyin*",
        alternatives=_SECRET,
    ),
    Pattern(
        "education",
        Role.QUASI_IDENTIFIER,
        "education*, edu, educ, degree*, school*, enrolled, bildung*, abschluss*, schul*, "
        "diplome*, etudes, scolarite, xueli*",
        alternatives=_SECRET,
    ),
    Pattern(
        "nationality or language",
        Role.QUASI_IDENTIFIER,
        "native*, citizen*, nationalit*, immigra*, language*, staatsang*, sprache*, langue*, nationalite, guoji, yuyan",
        alternatives=_SECRET,
    ),
    Pattern(
        "household",
        Role.QUASI_IDENTIFIER,
        "household*, hh, family*, families, relationship*, children, kids, spouse, "
        "dependent*, haushalt*, kinder*, menage*, enfants, jiating*",
    ),
    Pattern(
        "place",
        Role.QUASI_IDENTIFIER,
        "zip*, postcode*, postal*, plz, postleitzahl*, city, cities, town*, suburb*, village*, municip*, county, district*, "
        "region*, state, province*, country*, canton*, kanton*, bundesland*, land, ort, wohnort*, "
        "stadt*, gemeinde*, ville*, "
        "commune*, departement*, pays, codepostal, latitude, longitude, lat, lon, =long, lng, location*, "
        "residence*, neighbo*, tract, "
        "precinct, youbian, chengshi*, shengfen, diqu, guojia",
    ),
)
"""Patterns of names; the first that matches the name applies.

Identifiers come first, then sensitive columns, then quasi-identifiers: if a name matches several patterns, the role that
reveals less applies. Survey weights come before the weight of a body, and birth dates before birthplaces, because
`weight` and `birth*` match both."""

DATE, NAME, KEY, WEIGHT = SHAPES[5], NAMES[0], NAMES[6], NAMES[7]
BIRTH = next(one for one in NAMES if one.name == "birth date")
BIRTHPLACE = next(one for one in NAMES if one.name == "birthplace")

_CATEGORIES = Pattern(
    "category",
    Role.OTHER,
    "sex, gender*, race, races, ethnic*, marital*, birthplace*, birthplc, birthcountry, birthstate, occupation*, industr*, "
    "profession*, religi*, confession*, nationalit*, citizenship*, language*, relationship*, country*, geschlecht*, "
    "familienstand*, zivilstand*, geburtsort*, geburtsland*, beruf*, branche*, konfession*, staatsang*, sprache*, "
    "matrimonial*, metier*, langue*, pays",
)
"""Names of columns whose numbers are codes: that 3 is between 2 and 4 means nothing."""

_AMOUNTS = Pattern(
    "amount",
    Role.OTHER,
    "year*, yr, yrs, month*, week*, day*, hour*, age, number, num, count, share, percent, pct, rate, index, score*, "
    "prestige, jahr*, monat*, woche*, stunde*, anzahl, annee*, mois, heure*, nombre",
)
"""Words that make the numbers of such a column amounts."""

SHAPE_SHARE = 0.8
"""The share of the cells of a column that must match a pattern; the rest may be typing errors."""


def pattern_of_name(name: str, patterns: Sequence[Pattern] = NAMES) -> Pattern | None:
    """Return the pattern of a column's name; None if there is none.

    >>> pattern_of_name("soc_sec_id").name, pattern_of_name("Geburtsdatum").name, pattern_of_name("x1")
    ('key or number of a person', 'birth date', None)
    """
    words = words_of(name)
    return next((one for one in patterns if any(_matches(entry, words) for entry in _entries(one))), None)


def is_code_of_categories(name: str, pattern: Pattern, distinct: int) -> bool:
    """Return whether the whole numbers of a column are codes of categories, by its name and the pattern found for it.

    Two numbers need not be told from categories. An income by industry is an amount, whatever the industry.

    >>> marital, income = (pattern_of_name(name) for name in ("marital", "industry_wage"))
    >>> is_code_of_categories("marital", marital, 6), is_code_of_categories("industry_wage", income, 90)
    (True, False)
    """
    if "code" in words_of(name):
        return True
    words = words_of(name)
    amount = pattern.rank < 2 or any(_matches(entry, words) for entry in _entries(_AMOUNTS))
    return distinct > 2 and not amount and any(_matches(entry, words) for entry in _entries(_CATEGORIES))


def pattern_of_cells(cells: Sequence[str]) -> tuple[Pattern, float] | None:
    """Return the pattern of most cells of a sample, and the share of cells that match it.

    >>> pattern_of_cells(["ann@example.org", "bob@example.org"])[0].name, pattern_of_cells(["19151111"])[0].name
    ('mail address', 'date')
    """
    if not cells:
        return None
    small = [cell.strip().casefold() for cell in cells]
    for pattern in SHAPES:
        expression = _expression(pattern)
        share = sum(expression.fullmatch(cell) is not None for cell in small) / len(small)
        if share >= SHAPE_SHARE:
            return pattern, share
    return None


def year_of_cell(cell: str) -> int | None:
    """Return the year at the start or at the end of a date.

    >>> year_of_cell("1952-03-01"), year_of_cell("01.03.1952"), year_of_cell("x")
    (1952, 1952, None)
    """
    head, tail = cell[:4], cell[-4:]
    found = head if head.isdigit() else tail if tail.isdigit() else ""
    return int(found) if found and found.isascii() and 1800 <= int(found) < 2100 else None


@lru_cache
def _entries(pattern: Pattern) -> tuple[str, ...]:
    return tuple(word.strip() for word in pattern.words.split(",") if word.strip())


@lru_cache
def _expression(pattern: Pattern) -> re.Pattern[str]:
    return re.compile(pattern.cells)


def _matches(entry: str, words: Sequence[str]) -> bool:
    """Return whether an entry of a pattern matches the words of a name."""
    if entry.startswith("="):
        return tuple(words) == (entry[1:],)
    return all(
        any(own.startswith(part[:-1]) if part.endswith("*") else own == part for own in words) for part in entry.split()
    )
