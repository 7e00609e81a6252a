"""Lines that users of scikit-learn, pandas and python-chess type: each works, or the error corrects it."""

import pickle
import runpy
from contextlib import suppress
from pathlib import Path

import matplotlib.figure
import numpy as np
import pytest

import motif
from motif.evaluators.probabilities import OUTPUTS
from motif.parameters import extend, parameter_set
from tests.short_rollouts import shorten_rollouts

START = "4HPwATDgc/ABMA"
AT_SCORE = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:3:4:0:5:10"


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    folder = tmp_path_factory.mktemp("typed")
    path = folder / "try"
    motif.sample(player="simple", games=6, trials=2, out=path, jobs=1)
    made = {
        "motif": motif,
        "np": np,
        "pickle": pickle,
        "Path": Path,
        "extend": extend,
        "parameter_set": parameter_set,
        "path": str(path),
        "folder": folder,
        "start": START,
    }
    lines = (
        "data = motif.read_dataset(path)",
        "result = motif.fit(path, parameters='keith', heads='win', validation=0.2, jobs=1)",
    )
    made["columns"] = {"position": [START] * 2, **dict.fromkeys(OUTPUTS, (0.0, 0.0))}
    made["model"] = type("Even", (), {"predict": lambda self, rows: np.zeros(len(rows))})()
    for line in lines:
        exec(line, made)
    return made


WORKS = [
    "motif.sample(player='simple', games=2, trials=1, out=folder / 'again', jobs=1).positions > 9",
    "motif.rank(start, '31', player=result.weights).best",
    "motif.rank(start, '31', player=result.player).to_frame().columns",
    "result.history[0]['pass'] >= 0",
    "result.plot().axes",
    "result.write(folder / 'fit.yaml').exists()",
    "motif.fit(data, method='coordinate', parameters='keith', heads='win', jobs=1).weights.name",
    "motif.fit([path, data[9:]], motif.FitSettings(parameters='keith', heads='win'), jobs=1).rmse_train > 0",
    "data.X('keith').shape[0] == len(data.y('win')) == len(data.groups)",
    "motif.benchmark(result.weights, data, jobs=1).overall.er > 0",
    "motif.benchmark('pubeval', path, versus='simple', jobs=1).to_frame()",
    "motif.play_matches('simple', 'pubeval', 4, length=1, cube=False, luck_adjusted='simple', jobs=1).mwc",
    "motif.play_money_games('simple', result.weights, games=2, jobs=1).to_dict()['games'] == 2",
    "motif.play_tournament(['simple', 'random'], games=2, jobs=1).to_frame()",
    "motif.rollout(start, player='pubeval', trials=36, cut=4, jobs=1).to_dict()['positions']",
    "motif.rollout(np.array([motif.Position.of(start).board]), 'simple', motif.RolloutSettings(36, cut=2))",
    "motif.legal_plays(start, 3, 1) == motif.legal_plays(start, '31') == motif.legal_plays(start, (3, 1))",
    "motif.evaluate([start, start])[1].equity == motif.evaluate(start).equity",
    "motif.evaluate(motif.Position.from_id(start)).to_dict()['win'] > 0.5",
    "motif.load_player('latest').choose(start, '31')",
    "motif.load_evaluator('latest@1').evaluate(start).win > 0.5",
    "motif.cube('dPexAAB07zMAAA', 'simple').to_dict()['action']",
    "motif.Game(seed=1).roll()",
    "motif.load_evaluator('motif-v0').details(start)['features']",
    "pickle.loads(pickle.dumps(motif.Game(seed=1))).roll() == motif.Game(seed=1).roll()",
    "motif.rank(start, '31', result.write(folder / 'fit.yaml')).player.endswith('fit.yaml')",
    "motif.rank(start, '31', result).best == motif.rank(start, '31', result.weights).best",
    "motif.sample(player=folder / 'fit.yaml', games=1, trials=1, out=folder / 'own', jobs=1).games == 1",
    "motif.rank(start, '31', 'simple')[-1].chances.win > 0",
    "len(motif.compare_plays(start, '31', 'simple', plays='8/5 6/5', trials=36, cut=2, jobs=1).plays) == 1",
    "list(motif.benchmark('simple', [data, data[2:]], jobs=1).files) == ['dataset 1', 'dataset 2']",
    "list(motif.benchmark('simple', [data, data[:], path], jobs=1).files) == ['dataset 1']",
    "motif.benchmark('simple', data, jobs=1) in {motif.benchmark('simple', data, jobs=1): 1}",
    "hash(motif.play_tournament((name for name in ('simple', 'random')), games=2, jobs=1).points)",
    "motif.fit(np.array([path]), parameters='keith', heads='win', jobs=1).samples == len(data)",
    "np.isfinite(motif.terms(result, data=data, top=1, jobs=1).terms[0].se)",
    "motif.terms(result, data=data[1:], top=1).note == 'fit has no record of a fit to the dataset'",
    "'given positions' in motif.terms(result, data=data, top=1, jobs=1).opening",
    "'the dataset' not in motif.inspect(result, folder / 'seen', dataset=data).summary['source']",
    "repr(result.evaluator) == '<static evaluator fit: 19 parameters and their pairs>'",
    "repr(motif.fit(path, parameters='keith', terms='linear').evaluator).endswith('19 parameters>')",
    "data.X(parameter_set('keith')).shape == data.X(Path('keith')).shape == (len(data), 19)",
    "data.feature_names('keith')[0] == 'pip_count'",
    "motif.fit(data, parameters=parameter_set('keith'), heads='win', jobs=1).samples > 0",
    "motif.fit(data, parameters='keith', heads='win', out=folder / 'a.b.yaml').weights.name == 'a.b'",
    "motif.cube_windows('simple', 20).player == 'simple'",
    "motif.calibrate(data, 'motif-v0', jobs=1)",
    "motif.calibrate(data, 'motif-v0', jobs=1).plot().axes",
    "motif.evaluate(start, motif.calibrate(data, 'bras', jobs=1).write(folder / 'known.yaml')).win > 0",
    "motif.rank(start, '31', motif.calibrate(data, 'bras', jobs=1).weights).player == 'bras-calibrated'",
    "motif.calibrate(data, 'motif-v0', jobs=1).plot(folder / 'x.svg') and (folder / 'x.svg').exists()",
    "result.evaluator is result.evaluator",
    "motif.evaluate((start, start)) == motif.evaluate(np.array([start, start], object))",
    "motif.evaluate(data.to_frame()['position'][:2])[0].win > 0",
    "len(motif.evaluate_many(np.array([start, start], object))) == 2",
    "len(data[[]]) == 0",
    "data == data and motif.rollout(start, 'simple', trials=36, cut=2) != 3",
    "motif.MakeSettings().decisions > 0 and motif.PhaseNetSettings() is not None",
]


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("line", WORKS)
def test_a_line_works(line, names):
    value = eval(line, names)
    assert value is not False
    assert value is not None
    if isinstance(value, matplotlib.figure.Figure):
        assert value.axes


SAYS = {
    "motif.fit('runs/none')": "runs/none: not a dataset",
    "motif.fit(path, parametres='motif')": "unknown setting 'parametres'; did you mean 'parameters'?",
    "motif.sample(player='simple', games=3)": "out: missing folder of the dataset, such as out='runs/try'",
    "motif.sample('simple', 'out')": "settings must be SampleSettings, not 'simple'; did you mean player=?",
    "motif.sample(games=3, out='x')": "player: missing player, such as player='latest'",
    "motif.sample(player='simple', game=3, out='x')": "unknown setting 'game'; did you mean 'games'?",
    "motif.fit(data, 'keith')": "settings must be FitSettings, not 'keith'; write single",
    "motif.rollout(start, 'simple', 36)": "settings must be RolloutSettings, not 36; write single",
    "motif.rollout(start, 'simple', motif.FitSettings())": "settings must be RolloutSettings, not Fit",
    "motif.rollout(start, 'simple', trials=9, jobs='2')": "jobs must be a whole number, not '2'",
    "motif.rollout(start, 'simple', trials=9, stratified='no')": "stratified must be True or False, not 'no'",
    "motif.rollout(start, 'simple', trials=9, se='x')": "se must be a number, not 'x'",
    "motif.rollout(start, 'simple', trials=9, scoring=1)": "scoring must be money, dmp or no-gammons, not 1",
    "motif.train_phase_net(path, motif.PhaseNetSettings(games=2.5))": "games must be a whole number, not 2.5",
    "motif.fit(data.X(), data.y())": "data must be datasets or their folders, not array(",
    "motif.fit(data.to_frame())": "data must be datasets or their folders, not ",
    "motif.benchmark('simple', data.to_frame())": "files must be benchmark files or datasets, not ",
    "data['equity']": "rows must be a slice, a mask (n,) or row numbers (n,), not 'equity'",
    "data[[0.5]]": "rows must be a slice, a mask (n,) or row numbers (n,), not [0.5]",
    "motif.inspect('bras', 'x', dataset=data[:9])": "the dataset: an analysis needs at least 100 positions",
    "motif.fit(data[:0])": "the dataset is empty",
    "motif.fit([data, data[:0]])": "dataset 2 is empty",
    "motif.fit([data, data])": "dataset 2 is given twice: it is that in dataset 1",
    "motif.fit([path, data])": "dataset 2 is given twice: it is that in ",
    "motif.fit([data, path])": "try: the dataset is given twice: it is that in dataset 1",
    "motif.fit([data, motif.read_dataset(path)])": "dataset 2 is given twice: it is that in dataset 1",
    "result.plot(3)": "path must be a path, not 3",
    "motif.calibrate(data, 'motif-v0', jobs=0)": "jobs must be at least 1, or -1 for all cores, not 0",
    "motif.calibrate(data, 'pubeval', jobs=1).weights": "'pubeval'",
    "motif.calibrate(data, 'motif-v0', jobs=1).write('x.txt')": "x.txt: the name must end in .yaml or .yml",
    "motif.from_sklearn(type('Ridge', (), {}))": "Ridge is a class: give an instance that is fitted",
    "motif.from_sklearn(model, name=3)": "name must be a line of 1 to 1000 visible characters, not 3",
    "motif.from_sklearn(model, name='a\\nb')": "name must be a line of 1 to 1000 visible characters, not",
    "motif.fit(data, out='x.txt')": "x.txt: the name must end in .yaml or .yml",
    "data.split('0.1')": "validation must be at least 0 and below 1, not '0.1'",
    "data.write(path)": "already contains a dataset; name a new folder",
    "motif.play_tournament([result, result])": "duplicate player 'fit': each player may be listed once; fit",
    "motif.compare_plays(start, '31', plays=motif.legal_plays(start, '64'))": "illegal play of 31: 8/2 6/2",
    "motif.explain(start, '31', versus=motif.legal_plays(start, '64')[0])": "illegal play of 31: 8/2 6/2",
    "motif.rank(start, '31', 'simple').of(motif.legal_plays(start, '64')[0])": "illegal play of 31: 8/2 6/2",
    "motif.evaluate(data, 'simple')": "games>; evaluate_many takes its boards, data.boards",
    "motif.evaluate_many(data, 'simple')": "games>; evaluate_many takes its boards, data.boards",
    "motif.evaluate_many([start, 'xx'])": "row 1: invalid position 'xx'",
    "motif.cube_efficiency('latest@1', 2, 2)": "cube_efficiency requires weights without lookahead",
    "data.X(extend('motif'))": "parameters must be a set, its name or a file, not",
    "data[np.zeros((2, 2), int)]": "rows must be a slice, a mask (n,) or row numbers (n,), not (2, 2)",
    "motif.Dataset.from_frame({**columns, 'position': 3})": "position must be a column of positions, not 3",
    "motif.Dataset.from_frame({**columns, 'win': [[1], [1, 2]]})": "win must have one value in each row, not",
    "motif.Dataset.from_frame({**columns, 'trials': [1.5, 1]})": "trials of row 0 is 1.5: it must be a whole "
    "number from 1 to 2147483647",
    "motif.Dataset.from_frame(np.array([(start,)], [('position', 'U14')]))": "must be a data frame or a map",
    "motif.Dataset.from_frame({**columns, 'position': [start, None]})": "position: row 1: a position must be",
    "motif.from_sklearn(3)": "3 is not a fitted estimator: it has no method predict",
    "data.y('wins')": "did you mean 'win'?",
    "data.X('motiv')": "motiv",
    "motif.play_match": "module 'motif' has no attribute 'play_match'; did you mean 'play_matches'?",
    "motif.rank(start, '31', player=object)": "object is a class: give an instance, object(...)",
    "motif.benchmark('pubeval', 'none.bm')": "none.bm",
    "motif.play_tournament('latest')": "players must be a list of at least 2, such as ['latest', 'pubeval']",
    "motif.Game(length=3).push('8/5 6/5')": "no roll to play '8/5 6/5' with: call roll() first",
    "motif.legal_plays(start, '31', 1)": "each die must be 1 to 6, not 31",
    "motif.analyse('match.mat', fast=True, deep=True)": "match.mat",
}


@pytest.mark.parametrize("line", SAYS)
def test_an_error_says_what_to_write_instead(line, names):
    with pytest.raises((motif.MotifError, AttributeError)) as caught:
        eval(line, names)
    assert SAYS[line] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_position_keeps_its_match():
    position = motif.Position.from_id(AT_SCORE)
    assert position.match.length == 5
    assert position.xgid == AT_SCORE
    by_text, by_position = (motif.rank(one, player="motif-v0") for one in (AT_SCORE, position))
    assert by_text.valued_for == by_position.valued_for != ""
    assert position == motif.Position.from_id(START)
    assert motif.legal_plays(position) == motif.legal_plays(START, "31")


def test_results_print_and_show_themselves():
    results = [
        motif.play_money_games("simple", "random", 4, jobs=1),
        motif.play_matches("simple", "random", 2, length=1, jobs=1),
        motif.play_tournament(["simple", "random"], 2, jobs=1),
        motif.rollout(START, "simple", trials=36, cut=2),
        motif.cube("dPexAAB07zMAAA", "simple"),
        motif.rank(START, "31", "simple"),
        motif.explain(START, "31", "motif-v0"),
    ]
    for result in results:
        assert repr(result) == str(result)
        assert len(repr(result).splitlines()[0]) < 120
        assert "<" in result._repr_html_()
        assert len(result.to_frame()) > 0
        assert isinstance(result.to_dict(), dict)


def test_a_game_from_start_to_end(tmp_path):
    game = motif.Game(length=3, seed=4, names=("ann", "bob"))
    player = motif.load_player("pubeval")
    doubled = False
    while game.match_winner is None:
        if game.can_double and not doubled:
            game.push("double")
            assert game.is_doubled
            assert game.to_decide == 1 - game.turn
            game.push("take")
            doubled = True
        dice = game.roll()
        assert dice == game.dice
        assert game.legal_plays == motif.legal_plays(game.position)
        game.push(player.choose(game.position, dice))
    assert max(game.score) >= 3
    assert doubled
    path = game.write(tmp_path / "match.mat")
    assert motif.read_match(path).players == ("ann", "bob")
    assert game._repr_svg_().startswith("<svg")
    assert game.to_dict()["winner"] == game.result.winner


def test_a_game_with_given_rolls():
    game = motif.Game(jacoby=False)
    assert game.roll("13") == (3, 1)
    assert game.turn == 1
    with pytest.raises(motif.MotifError, match="the roll 31 has not been played yet: push a play"):
        game.roll()
    game.push("8/5 6/5")
    assert game.turn == 0
    game.pop()
    assert (game.turn, game.dice) == (1, (3, 1))
    game.push("8/5 6/5")
    game.roll((6, 6))
    with pytest.raises(motif.MotifError):
        game.push("24/1")
    with suppress(motif.MotifError):
        game.double()
    game.push(game.legal_plays[0])
    assert motif.Game().roll(np.array([1, 3])) == motif.Game().roll((np.int64(3), np.int64(1))) == (3, 1)
    begun = motif.Game()
    begun.roll((np.int64(3), np.int64(1)))
    assert begun.turn == 0
    begun = motif.Game()
    begun.roll(31)
    with pytest.raises(motif.MotifError, match="cannot resign a gammon: under the Jacoby rule"):
        begun.resign("gammon")
    game.resign("gammon")
    assert (game.result.points, game.score) == (2, (2, 0))
    assert game.is_over


@pytest.mark.usefixtures("undrawn")
def test_the_script_of_a_user_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shorten_rollouts(monkeypatch)
    runpy.run_path(str(Path(__file__).parent / "data" / "typed_user.py"), run_name="__main__")
    assert (tmp_path / "data" / "fit.png").exists()
