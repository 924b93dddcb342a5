"""Patterns of columns, as data: the words of their names, and the shapes of their cells.

A look says what a column seems to hold, and the role that such a column usually has. Words are those of English, German,
French and romanised Chinese headers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sfumato.data.schema import Role
from sfumato.profiling.name_words import words_of


@dataclass(frozen=True)
class Look:
    """What a column probably contains.

    A word of `words` stands for itself; one with a star for every word that begins so; several for a name that has them
    all; one after `=` for the whole name.
    """

    name: str
    role: Role
    words: str = ""
    """Separated by commas."""
    cells: str = ""
    """A regular expression that whole cells match."""
    rank: int = 9
    """The rank of a sensitive attribute; the most harmful comes first."""
    widely: bool = True
    """Whether many outsiders know a quasi-identifier, as they know sex and age."""
    doubt: tuple[Role, ...] = ()
    """Roles that a person might choose instead."""


SHAPES = (
    Look("mail address", Role.IDENTIFIER, cells=r"[^@\s]+@[^@\s]+\.[^@\s.]{2,}"),
    Look("web address", Role.IDENTIFIER, cells=r"(https?|ftp)://\S+|www\.\S+"),
    Look("network address", Role.IDENTIFIER, cells=r"\d{1,3}(\.\d{1,3}){3}|([0-9a-f]{0,4}:){4,7}[0-9a-f]{0,4}"),
    Look("universal key", Role.IDENTIFIER, cells=r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|[0-9a-f]{40}"),
    Look(
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
    Look(
        "date",
        Role.QUASI_IDENTIFIER,
        cells=r"((18|19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])"
        r"|(18|19|20)\d{2}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]((18|19|20)\d{2}|\d{2}))"
        r"([ t]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?z| ?[+-]\d{2}:?\d{2}| ?[ap]m)?)?",
    ),
    Look(
        "phone number",
        Role.IDENTIFIER,
        cells=r"(?=(?:\D*\d){7,15}\D*$)(\+|00?)[\d ()/.-]+|\(?\d{2,5}\)?([ /.-]\d{2,5}){2,4}",
    ),
    Look(
        "street address",
        Role.IDENTIFIER,
        cells=r"(\d+\w?,? )?(.+ )?\b(street|str|road|rd|avenue|ave|lane|drive|circuit|crescent|close|court|terrace|boulevard"
        r"|square|highway|parade|grove)\b\.?( .*)?|.+(straße|strasse|str\.|weg|gasse|platz|allee) ?\d+ ?\w?"
        r"|(\d+ ?(bis|ter)?,? )?(rue|boulevard|impasse|chemin|allée|place|quai|avenue) .+|.+[路街巷弄].*\d+号?.*",
    ),
)
"""Patterns of cells, whatever the name of the column; the first that most cells match applies."""

_SECRET = (Role.SENSITIVE,)
"""The alternative role of facts that outsiders can know, but that some people keep private."""

NAMES = (
    Look(
        "person's name",
        Role.IDENTIFIER,
        "=name, =names, first name, last name, given name, family name, full name, middle name, maiden name, user name, "
        "patient name, customer name, client name, person name, employee name, student name, surname*, firstname, lastname, "
        "fullname, forename*, givenname, fname, lname, mname, username, nickname, vorname*, nachname*, familienname*, "
        "geburtsname, =nom, =noms, prenom*, nom famille, patronyme, xingming, =xing, =ming",
    ),
    Look("mail address", Role.IDENTIFIER, "mail, email*, emails, courriel, youxiang"),
    Look(
        "phone number",
        Role.IDENTIFIER,
        "phone*, telephone*, tel, mobile, fax, telefon*, handy*, portable, shouji*, dianhua*",
    ),
    Look(
        "street address",
        Role.IDENTIFIER,
        "address*, addr, street*, strasse*, str, hausnummer*, hausnr, adresse*, rue, anschrift*, dizhi*, zhuzhi*, voie",
    ),
    Look("network address", Role.IDENTIFIER, "ip, ipaddress, mac address, imei, cookie"),
    Look("photograph", Role.IDENTIFIER, "photo*, picture, image, signature, fingerprint*, foto*, passbild"),
    Look(
        "key or number of a person",
        Role.IDENTIFIER,
        "id, ids, key, uid, pid, uuid, guid, ssn, nin, nino, nhs, mrn, passport*, social sec*, soc sec*, iban, account*, "
        "konto*, ausweis*, versicherungsnummer*, kennzeichen, kennung, nir, insee, matricule, "
        "licence, license, plate, record, "
        "identifier*, shenfen*, hukou*, bianhao, login, number, nummer, numero, nr, no, card",
    ),
    Look(
        "survey weight",
        Role.OTHER,
        "fnlwgt, wgt, wt, pwgt*, perwt, hhwt, pweight, instance weight*, sample weight*, sampling weight*, survey weight*, "
        "person weight*, final weight*, design weight*, household weight*, weighting, "
        "gewichtung*, hochrechnung*, ponderation, "
        "poids sondage, quanzhong",
    ),
    Look(
        "income",
        Role.SENSITIVE,
        "income*, salary, salaries, wage*, earning*, pay, payment*, compensation, einkommen*, gehalt*, lohn*, verdienst*, "
        "revenu*, salaire*, shouru*, gongzi*, xinzi*",
        rank=0,
    ),
    Look(
        "health",
        Role.SENSITIVE,
        "diagnos*, disease*, icd*, ill, illness*, symptom*, syndrome*, treatment*, drug*, medic*, prescription*, therap*, "
        "surgery, blood, hiv, aids, bmi, cholesterol, glucose, insulin, cancer, tumor*, tumour*, allerg*, disab*, mental, "
        "health*, condition*, depress*, pregnan*, krank*, erkrankung*, behandlung*, befund*, blutdruck, arznei*, maladie*, "
        "traitement*, sante, pathologie*, jibing*, zhenduan*, bingming",
        rank=0,
    ),
    Look(
        "money",
        Role.SENSITIVE,
        "capital*, gain*, loss, losses, dividend*, wealth, asset*, debt*, loan*, credit*, balance, tax*, benefit*, welfare, "
        "pension*, mortgage*, rent, expens*, spend*, amount, vermogen*, schulden, steuer*, rente*, sozialhilfe, miete, "
        "patrimoine, dette*, impot*, allocation*, loyer, cunkuan, shui",
        rank=1,
    ),
    Look(
        "belief, conviction or intimate life",
        Role.SENSITIVE,
        "religi*, faith, church, politic*, party, vote*, voting, union*, sexual*, orientation, crime*, criminal*, offen*, "
        "convict*, prison*, arrest*, konfession*, glaube, gewerkschaft*, straf*, croyance, "
        "syndicat*, condamnation*, zongjiao, "
        "zhengzhi*",
        rank=2,
    ),
    Look(
        "employment",
        Role.SENSITIVE,
        "occupation*, job*, profession*, employ*, unemploy*, industr*, work*, business, hours, weeks, labor*, labour*, "
        "beruf*, beschaftig*, arbeit*, branche*, metier*, emploi*, chomage, travail, zhiye*, gongzuo*, hangye",
        rank=3,
        doubt=(Role.QUASI_IDENTIFIER,),
    ),
    Look(
        "test result",
        Role.SENSITIVE,
        "score*, grade*, gpa, iq, rating, zeugnis*, chengji",
        rank=4,
        doubt=(Role.QUASI_IDENTIFIER,),
    ),
    Look(
        "residence before, or moves",
        Role.QUASI_IDENTIFIER,
        "migr*, mover*, moved, prev*, previous*, same house, umzug*, demenag*",
        widely=False,
    ),
    Look("military service", Role.QUASI_IDENTIFIER, "veteran*, military, army, wehrdienst*, fuyi", widely=False),
    Look("body", Role.QUASI_IDENTIFIER, "height, weight, eye*, hair*, grosse, taille, shengao, tizhong", widely=False),
    Look(
        "birth date",
        Role.QUASI_IDENTIFIER,
        "dob, birthday*, birthdate*, date birth, year birth, month birth, birth year, "
        "birth month, birth day, yob, born, geburtsdatum*, geburtstag*, geburtsjahr*, gebdat*, "
        "naissance, chusheng*, shengri, "
        "=by, =bm, =bd",
    ),
    Look("birthplace", Role.QUASI_IDENTIFIER, "birth*, geburtsort*, geburtsland*, jiguan"),
    Look("age", Role.QUASI_IDENTIFIER, "age, ages, agegroup, alter, altersgruppe*, lebensalter, nianling"),
    Look("sex", Role.QUASI_IDENTIFIER, "sex, gender*, geschlecht*, sexe, genre, xingbie"),
    Look("race or ethnicity", Role.QUASI_IDENTIFIER, "race, races, ethnic*, hispanic*, ethnie, minzu, rasse", doubt=_SECRET),
    Look(
        "marital status",
        Role.QUASI_IDENTIFIER,
        "marital*, married, marriage, familienstand*, zivilstand*, etat civil, matrimonial*, hunyin*",
        doubt=_SECRET,
    ),
    Look(
        "education",
        Role.QUASI_IDENTIFIER,
        "education*, edu, educ, degree*, school*, enrolled, bildung*, abschluss*, schul*, "
        "diplome*, etudes, scolarite, xueli*",
        doubt=_SECRET,
    ),
    Look(
        "nationality or language",
        Role.QUASI_IDENTIFIER,
        "native*, citizen*, nationalit*, immigra*, language*, staatsang*, sprache*, langue*, nationalite, guoji, yuyan",
        doubt=_SECRET,
    ),
    Look(
        "household",
        Role.QUASI_IDENTIFIER,
        "household*, hh, family*, families, relationship*, children, kids, spouse, "
        "dependent*, haushalt*, kinder*, menage*, enfants, jiating*",
    ),
    Look(
        "place",
        Role.QUASI_IDENTIFIER,
        "zip*, postcode*, postal*, plz, postleitzahl*, city, cities, town*, suburb*, village*, municip*, county, district*, "
        "region*, state, province*, country*, canton*, kanton*, bundesland*, land, ort, wohnort*, "
        "stadt*, gemeinde*, ville*, "
        "commune*, departement*, pays, codepostal, latitude, longitude, lat, lon, lng, location*, "
        "residence*, neighbo*, tract, "
        "precinct, youbian, chengshi*, shengfen, diqu, guojia",
    ),
)
"""Patterns of names; the first that shares a word with the name applies, so sensitive ones come before known ones."""

DATE, NAME, KEY, WEIGHT = SHAPES[5], NAMES[0], NAMES[6], NAMES[7]
BIRTH = next(look for look in NAMES if look.name == "birth date")
BIRTHPLACE = next(look for look in NAMES if look.name == "birthplace")

SHAPE_SHARE = 0.8
"""The share of the cells of a column that must match a shape."""


def named(name: str, looks: Sequence[Look] = NAMES) -> Look | None:
    """Return the pattern of a column's name; None if there is none.

    >>> named("soc_sec_id").name, named("Geburtsdatum").name, named("x1")
    ('key or number of a person', 'birth date', None)
    """
    words = words_of(name)
    return next((look for look in looks if any(_speaks(word, words) for word in _words(look))), None)


def shaped(cells: Sequence[str]) -> tuple[Look, float] | None:
    """Return the pattern of most cells of a sample, and the share of cells that match it.

    >>> shaped(["ann@example.org", "bob@example.org"])[0].name, shaped(["19151111", "19161214"])[0].name
    ('mail address', 'date')
    """
    if not cells:
        return None
    small = [cell.strip().casefold() for cell in cells]
    for look in SHAPES:
        pattern = _pattern(look)
        share = sum(pattern.fullmatch(cell) is not None for cell in small) / len(small)
        if share >= SHAPE_SHARE:
            return look, share
    return None


@lru_cache
def _words(look: Look) -> tuple[str, ...]:
    return tuple(word.strip() for word in look.words.split(",") if word.strip())


@lru_cache
def _pattern(look: Look) -> re.Pattern[str]:
    return re.compile(look.cells)


def _speaks(word: str, words: Sequence[str]) -> bool:
    if word.startswith("="):
        return tuple(words) == (word[1:],)
    return all(
        any(own.startswith(part[:-1]) if part.endswith("*") else own == part for own in words) for part in word.split()
    )
