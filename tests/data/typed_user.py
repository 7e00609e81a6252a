"""A user's script that a strict type checker accepts."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

import motif
from motif.runtime.arrays import Float32Array, FloatArray


class PipLead:
    """Values only the lead in the race."""

    def evaluate_many(self, boards: npt.NDArray[np.int8]) -> FloatArray:
        points = np.arange(26)
        own = np.maximum(boards, 0) @ points
        opponent = np.maximum(-boards, 0) @ (25 - points)
        return np.asarray(np.tanh((opponent - own) / 60), np.float64)


def questions(position: motif.Position, player: motif.Player) -> None:
    ranking: motif.Ranking = motif.rank(position, "31", player, length=5, score=(2, 3))
    print(ranking.best, ranking[0].equity, ranking.to_dict())
    for play in motif.legal_plays(position, 3, 1):
        print(play.notation, play.position.gnubg_id)
    chances: list[motif.Probabilities] = motif.evaluate([position, position])
    print(chances[0].equity, motif.evaluate(position, PipLead()).win)
    rows: Float32Array = motif.evaluate_many([position], player)
    print(rows.shape, motif.cube(position, jacoby=True).action, motif.decide(position, "31").action)
    rolled: motif.RolloutResult = motif.rollout(position, PipLead(), trials=36, cut=4)
    print(rolled.equity(), rolled.to_frame(), motif.explain(position, "31", language="en").summary)
    compared: motif.Comparison = motif.compare_plays(position, "31", trials=36, length=5)
    print(compared.best)


def a_game(player: motif.Player) -> motif.Game:
    game = motif.Game(length=3, seed=1)
    while game.match_winner is None:
        if game.can_double:
            game.double()
            game.take()
        dice = game.roll()
        game.push(player.choose(game.position, dice))
    score: tuple[int, int] = game.score
    print(score, game.record.length)
    return game


def learn(folder: Path) -> motif.Player:
    sampled: motif.SampleResult = motif.sample(player="simple", games=20, trials=2, out=folder)
    data: motif.Dataset = motif.read_dataset(sampled.folder)
    train, validation = data.split(validation=0.2)
    fitted: motif.Fit = motif.fit(train, parameters="keith", heads="win", ridge=1.0)
    fitted.plot(folder / "fit.png")
    print(motif.benchmark(fitted.weights, validation).overall.er, data.X("motif").shape)
    result = motif.play_money_games(fitted.weights, PipLead(), games=4, luck_adjusted="motif-v1")
    print(result.to_dict(), motif.play_tournament([fitted.player, "random"], games=4).names)
    return fitted.player


if __name__ == "__main__":
    questions(motif.Position.start(), motif.load_player("latest"))
    a_game(learn(Path("data")))
