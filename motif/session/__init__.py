"""Games with human players: state, terminal view and tutor."""
