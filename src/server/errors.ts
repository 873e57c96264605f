/** The errors that the server shares with the programs of integrators, and with the command line. */
export {
  AppError,
  DatabaseAwayError,
  quote,
  unavailable,
  unknownName,
  UsageError,
  withoutDirections,
} from '../errors.ts';
