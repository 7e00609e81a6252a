"""Games with people: state, terminal table and tutor."""
