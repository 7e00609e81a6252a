export function showHelp() {}
