"""The rules: positions, plays, games, and how they are written and drawn."""

from motif.board.diagram import svg_diagram, text_diagram
from motif.board.identifiers import gnubg_id
from motif.board.match_ids import ogid, xgid
from motif.board.parsing import parse_position
from motif.board.position import Forms, Position

Position._forms = Forms(
    gnubg_id,
    lambda position: xgid(position, position.match),
    lambda position: ogid(position, position.match),
    lambda position: text_diagram(position, position.match),
    lambda position: svg_diagram(position, position.match),
    lambda text: parse_position(text)[0],
)
