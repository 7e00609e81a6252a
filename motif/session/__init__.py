"""Games with people: state, terminal view and tutor."""
