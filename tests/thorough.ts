/** True in `npm run nightly:tests`, where tests use more cases, random inputs and data than in `npm test`. */
export const thorough = process.env.STARPO_THOROUGH === '1';
